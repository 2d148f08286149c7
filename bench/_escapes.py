"""The attempts of `bench.sandbox` in Python and SQL: code by name. SECRET, FOLDER, VICTIM, APP, TCP, UDP, UNIX and ABSTRACT are set before it
runs; `open_file("f1")` is a file of the chat, linked from FOLDER."""
# ruff: noqa: E501

LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
OK = "print('ESCAPED')"

ESCAPES = {
    # files
    "read a file outside": f"open(SECRET).read()\n{OK}",
    "write a file outside": f"open(SECRET, 'w').write('x')\n{OK}",
    "append to a file outside": f"open(SECRET, 'a').write('x')\n{OK}",
    "make a file outside": f"open(FOLDER + '/new', 'w')\n{OK}",
    "delete a file outside": f"import os\nos.unlink(SECRET)\n{OK}",
    "rename a file outside": f"import os\nos.rename(SECRET, SECRET + '2')\n{OK}",
    "truncate a file outside": f"import os\nos.truncate(SECRET, 0)\n{OK}",
    "make a folder outside": f"import os\nos.mkdir(FOLDER + '/d')\n{OK}",
    "list a folder outside": f"import os\nassert 'secret.txt' in os.listdir(FOLDER)\n{OK}",
    "list the root": f"import os\nassert os.listdir('/')\n{OK}",
    "list the home": f"import os\nos.listdir('/root' if os.getuid() == 0 else '/home')\n{OK}",
    "walk up from the own folder": f"import os\nassert os.listdir('../..')\n{OK}",
    "read the list of users": f"open('/etc/passwd').read()\n{OK}",
    "read passwords": f"open('/etc/shadow').read()\n{OK}",
    "read by a symbolic link": f"import os\nos.symlink(SECRET, 'link')\nopen('link').read()\n{OK}",
    "read by a hard link": f"import os\nos.link(SECRET, 'hard')\nopen('hard').read()\n{OK}",
    "read by a link to the root": f"import os\nos.symlink('/', 'root')\nopen('root' + SECRET).read()\n{OK}",
    "read by an open descriptor": (
        "import os\nfor fd in range(3, 512):\n    try:\n        text = os.pread(fd, 100, 0)\n    except OSError:\n        continue\n"
        f"    if b'secret' in text:\n        {OK}\n"
    ),
    "read by openat of an open folder": (
        "import os\nfor fd in range(3, 512):\n    try:\n        os.open(SECRET.lstrip('/'), os.O_RDONLY, dir_fd=fd)\n"
        f"        {OK}\n    except OSError:\n        pass\n"
    ),
    "read by pandas": f"import pandas as pd\npd.read_csv(SECRET)\n{OK}",
    "read by numpy": f"import numpy as np\nnp.fromfile(SECRET, dtype='u1')\n{OK}",
    "read by pyarrow": f"import pyarrow.csv\npyarrow.csv.read_csv(SECRET)\n{OK}",
    "read by duckdb": f"import duckdb\nduckdb.sql(f\"FROM read_csv('{{SECRET}}')\").fetchall()\n{OK}",
    "write by duckdb": f"import duckdb\nduckdb.sql(f\"COPY (SELECT 1) TO '{{FOLDER}}/new'\")\n{OK}",
    "read by libc": f"{LIBC}assert libc.open(SECRET.encode(), 0) >= 0\n{OK}",
    "read by a raw system call": f"{LIBC}assert libc.syscall(2, SECRET.encode(), 0, 0) >= 0\n{OK}",
    "read by openat2": (
        "import struct\n" + LIBC + "how = struct.pack('QQQ', 0, 0, 0)\n"
        f"assert libc.syscall(437, -100, SECRET.encode(), how, 24) >= 0\n{OK}"
    ),
    "change the mode of a file outside": f"import os\nos.chmod(SECRET, 0o777)\n{OK}",
    "change the mode by fchmodat2": f"{LIBC}assert libc.syscall(452, -100, SECRET.encode(), 0o777, 0) == 0\n{OK}",
    "change the times of a file outside": f"import os\nos.utime(SECRET)\n{OK}",
    "change the owner of a file outside": f"import os\nos.chown(SECRET, os.getuid(), os.getgid())\n{OK}",
    "set an attribute of a file outside": f"import os\nos.setxattr(SECRET, 'user.x', b'x')\n{OK}",
    "chroot": f"import os\nos.chroot('.')\n{OK}",
    "mount": f"{LIBC}assert libc.mount(b'none', b'.', b'tmpfs', 0, None) == 0\n{OK}",
    "new namespaces": f"{LIBC}assert libc.unshare(0x10000000) == 0\n{OK}",
    "open by handle": f"{LIBC}assert libc.syscall(304, -100, b'x' * 32, 0) >= 0\n{OK}",
    "change Leaf's own code": f"import leaf.errors\nopen(leaf.errors.__file__, 'a').write('')\n{OK}",
    "change a library": f"import json\nopen(json.__file__, 'a').write('')\n{OK}",
    "leave compiled code behind": f"import json, os\nopen(os.path.dirname(json.__file__) + '/__pycache__/x.pyc', 'w')\n{OK}",
    # /proc and the environment
    "read the app's environment": f"open(f'/proc/{{APP}}/environ').read()\n{OK}",
    "read the app's memory": f"open(f'/proc/{{APP}}/mem', 'rb')\n{OK}",
    "read the app's maps": f"open(f'/proc/{{APP}}/maps').read(10)\n{OK}",
    "read the app's command": f"open(f'/proc/{{APP}}/cmdline').read()\n{OK}",
    "take the app's descriptors": f"import os\nos.listdir(f'/proc/{{APP}}/fd')\n{OK}",
    "list processes": f"import os\nos.listdir('/proc')\n{OK}",
    "go through /proc/self/root": f"open('/proc/self/root' + SECRET).read()\n{OK}",
    "write the own memory map": f"open('/proc/self/mem', 'wb')\n{OK}",
    "change the own limits by /proc": f"open('/proc/self/oom_score_adj', 'w').write('-1000')\n{OK}",
    "find a key in the environment": f"import os\nassert any('sk-secret' in v for v in os.environ.values())\n{OK}",
    "find a key in the first environment": f"assert b'sk-secret' in open('/proc/self/environ', 'rb').read()\n{OK}",
    # other processes
    "fork": f"import os\nif os.fork() == 0:\n    os._exit(0)\n{OK}",
    "vfork": f"{LIBC}assert libc.syscall(58) >= 0\n{OK}",
    "clone": f"{LIBC}pid = libc.syscall(56, 17, 0, 0, 0, 0)\nif pid == 0:\n    os._exit(0)\nassert pid > 0\n{OK}",
    "a shell": f"import subprocess\nsubprocess.run(['/bin/sh', '-c', 'true'], check=True)\n{OK}",
    "another Python": f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''], check=True)\n{OK}",
    "posix_spawn": f"import os\nos.posix_spawn('/bin/true', ['true'], {{}})\n{OK}",
    "multiprocessing": f"import multiprocessing as m\np = m.get_context('fork').Process(target=print)\np.start()\np.join()\n{OK}",
    "signal another process": f"import os\nos.kill(VICTIM, 0)\n{OK}",
    "kill another process": f"import os\nos.kill(VICTIM, 9)\n{OK}",
    "signal the app": f"import os\nos.kill(APP, 0)\n{OK}",
    "stop the app": f"import os\nos.kill(os.getppid(), 19)\n{OK}",
    "kill every process": f"import os\nos.kill(-1, 9)\n{OK}",
    "signal by a descriptor": f"import os, signal\nsignal.pidfd_send_signal(os.pidfd_open(VICTIM), 0)\n{OK}",
    "trace another process": f"{LIBC}assert libc.ptrace(16, VICTIM, 0, 0) == 0\n{OK}",
    "be traced": f"{LIBC}assert libc.ptrace(0, 0, 0, 0) == 0\n{OK}",
    "read another process's memory": f"{LIBC}assert libc.process_vm_readv(APP, b'x' * 16, 1, b'x' * 16, 1, 0) >= 0\n{OK}",
    "take another's descriptor": f"{LIBC}fd = libc.syscall(434, APP, 0)\nassert libc.syscall(438, fd, 0, 0) >= 0\n{OK}",
    "raise the priority": f"import os\nos.setpriority(os.PRIO_PROCESS, 0, -10)\n{OK}",
    "slow the app down": f"import os\nos.setpriority(os.PRIO_PROCESS, VICTIM, 19)\n{OK}",
    "pin another process": f"import os\nos.sched_setaffinity(VICTIM, {{0}})\n{OK}",
    "signal by a thread's id": f"{LIBC}assert libc.syscall(234, VICTIM, VICTIM, 0) == 0\n{OK}",
    "queue a signal": f"{LIBC}assert libc.syscall(129, VICTIM, 0, b'\\0' * 128) == 0\n{OK}",
    "keep a capability": f"assert 'CapEff:\t0000000000000000' not in open('/proc/self/status').read().replace('CapEff:\t0000000000000002', 'CapEff:\t0000000000000000')\n{OK}",
    "raise another's limits": f"import resource\nresource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (16, 16))\n{OK}",
    # network
    "connect by TCP": f"import socket\nsocket.create_connection(('127.0.0.1', TCP), 2)\n{OK}",
    "connect by IPv6": f"import socket\nsocket.socket(socket.AF_INET6).bind(('::1', 0))\n{OK}",
    "send by UDP": f"import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', UDP))\n{OK}",
    "connect to a Unix socket": f"import socket\nsocket.socket(socket.AF_UNIX).connect(UNIX)\n{OK}",
    "connect to an abstract socket": f"import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0leaf')\ns.listen()\n{OK}",
    "listen": f"import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\n{OK}",
    "raw packets": f"import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n{OK}",
    "netlink": f"import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW).bind((0, 0))\n{OK}",
    "vsock": f"import socket\nsocket.socket(socket.AF_VSOCK)\n{OK}",
    "a page by urllib": f"import urllib.request\nurllib.request.urlopen(f'http://127.0.0.1:{{TCP}}/', timeout=2)\n{OK}",
    "a page by pandas": f"import pandas as pd\npd.read_csv(f'http://127.0.0.1:{{TCP}}/')\n{OK}",
    "an extension of duckdb": f"import duckdb\nduckdb.sql('INSTALL httpfs')\n{OK}",
    "a package by pip": f"import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', '--version'], check=True)\n{OK}",
    # the kernel
    "io_uring": f"{LIBC}assert libc.syscall(425, 8, b'\\0' * 120) >= 0\n{OK}",
    "bpf": f"{LIBC}assert libc.syscall(321, 0, b'\\0' * 64, 64) >= 0\n{OK}",
    "userfaultfd": f"{LIBC}assert libc.syscall(323, 0) >= 0\n{OK}",
    "perf": f"{LIBC}assert libc.syscall(298, b'\\0' * 120, 0, -1, -1, 0) >= 0\n{OK}",
    "load a module": f"{LIBC}assert libc.syscall(175, b'', 0, b'') >= 0\n{OK}",
    "change the clock": f"import time\ntime.clock_settime(time.CLOCK_REALTIME, time.time())\n{OK}",
    "change the host's name": f"import socket\nsocket.sethostname('leaf')\n{OK}",
    "reboot": f"{LIBC}assert libc.syscall(169, 0, 0, 0, 0) == 0\n{OK}",
    "memory that is a file": f"import os\nos.memfd_create('x')\n{OK}",
    "shared memory of System V": f"{LIBC}assert libc.shmget(0, 1 << 20, 0o1600) >= 0\n{OK}",
    "shared memory of POSIX": (
        "from multiprocessing import shared_memory\nm = shared_memory.SharedMemory(create=True, size=1000)\nm.close()\nm.unlink()\n"
        f"{OK}"
    ),
    "a message queue": f"{LIBC}assert libc.mq_open(b'/leaf', 0o102, 0o600, None) >= 0\n{OK}",
    "a key of the kernel": f"{LIBC}assert libc.syscall(248, b'user', b'leaf', b'x', 1, -2) >= 0\n{OK}",
    "a module of one's own in C": (
        f"{LIBC}open('x.so', 'wb').write(b'\\x7fELF')\nctypes.CDLL('./x.so')\n{OK}"
    ),
    # what a kernel without the scopes of Landlock leaves open
    "a signal by F_SETOWN": f"import fcntl, os, signal, socket\na, b = socket.socketpair()\nfcntl.fcntl(a, fcntl.F_SETOWN, VICTIM)\n{OK}",
    "a killing signal by F_SETSIG": f"import fcntl, signal, socket\na, b = socket.socketpair()\nfcntl.fcntl(a, 10, signal.SIGKILL)\n{OK}",
    "a signal by F_SETOWN_EX": f"import fcntl, socket, struct\na, b = socket.socketpair()\nfcntl.fcntl(a, 15, struct.pack('ii', 1, VICTIM))\n{OK}",
    "a signal by FIOSETOWN": f"import fcntl, socket, struct\na, b = socket.socketpair()\nfcntl.ioctl(a, 0x8901, struct.pack('i', VICTIM))\n{OK}",
    "a signal by SIOCSPGRP": f"import fcntl, socket, struct\na, b = socket.socketpair()\nfcntl.ioctl(a, 0x8902, struct.pack('i', VICTIM))\n{OK}",
    "a signal by FIOASYNC": f"import fcntl, socket, struct\na, b = socket.socketpair()\nfcntl.ioctl(a, 0x5452, struct.pack('i', 1))\n{OK}",
    "a lease that makes others wait": f"import fcntl, os\nopen('leased', 'w').close()\nfcntl.fcntl(os.open('leased', os.O_RDONLY), 1024, 0)\n{OK}",
    "a notice of a folder": f"import fcntl, os\nfcntl.fcntl(os.open('.', os.O_RDONLY), 1026, 2)\n{OK}",
    "watch a file by inotify": f"{LIBC}fd = libc.inotify_init()\nassert libc.inotify_add_watch(fd, SECRET.encode(), 0xFFF) >= 0\n{OK}",
    "watch by a newer inotify": f"{LIBC}assert libc.inotify_init1(0) >= 0\n{OK}",
    "watch files by fanotify": f"{LIBC}assert libc.fanotify_init(0x200, 0) >= 0\n{OK}",
    "a pair of datagram sockets": f"import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n{OK}",
    "a pair of packet sockets": f"import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n{OK}",
    "a datagram to an abstract socket": (
        f"import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendto(b'x', ABSTRACT)\n{OK}"
    ),
    "connect a stream of a pair": f"import socket\na, b = socket.socketpair()\ntry:\n    a.connect(ABSTRACT)\nexcept OSError as e:\n    assert e.errno == 106\n{OK}",
    "send an open file away": (
        f"import socket\na, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [open('sent', 'w').fileno()])\n{OK}"
    ),
    "set a flag of a file": f"import fcntl, struct\nf = open('flag', 'w')\nfcntl.ioctl(f, 0x40086602, struct.pack('l', 0))\n{OK}",
    "set an attribute of a file system": f"import fcntl\nf = open('flag', 'w')\nfcntl.ioctl(f, 0x801C581F, b'\\0' * 28)\nfcntl.ioctl(f, 0x401C5820, b'\\0' * 28)\n{OK}",
    "space behind the end of a file": f"{LIBC}fd = os.open('kept', os.O_RDWR | os.O_CREAT)\nassert libc.fallocate(fd, 1, ctypes.c_long(0), ctypes.c_long(1 << 20)) == 0\n{OK}",
    "descriptors of one's own": f"{LIBC}assert libc.unshare(0x400) == 0\n{OK}",
    "lift the confinement": f"{LIBC}assert libc.prctl(22, 0, 0, 0, 0) == 0\n{OK}",
    # files, by other ways
    "read after a change of the folder": f"import os\nos.chdir(FOLDER)\nopen('secret.txt').read()\n{OK}",
    "read by the descriptor of a path": f"import os\nfd = os.open(SECRET, os.O_PATH)\nopen(f'/proc/self/fd/{{fd}}').read()\n{OK}",
    "read by a handle of the file": (
        f"{LIBC}import struct\nh = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))\nm = ctypes.c_int()\n"
        "assert libc.syscall(303, -100, SECRET.encode(), h, ctypes.byref(m), 0) == 0\n"
        f"fd = libc.syscall(304, os.open('.', os.O_RDONLY), h, 0)\nassert fd >= 0 and os.pread(fd, 6, 0) == b'secret'\n{OK}"
    ),
    "read by the own folder in /proc": f"open('/proc/self/cwd/' + '../' * 30 + SECRET.lstrip('/')).read()\n{OK}",
    "move a file out": f"import os\nopen('own', 'w').close()\nos.rename('own', FOLDER + '/new')\n{OK}",
    "put another file in its place": f"import os\nopen('own', 'w').close()\nos.replace('own', SECRET)\n{OK}",
    "exchange two files": f"{LIBC}open('own', 'w').close()\nassert libc.syscall(316, -100, b'own', -100, SECRET.encode(), 2) == 0\n{OK}",
    "give a file a name outside": f"import os\nopen('own', 'w').close()\nos.link('own', FOLDER + '/new')\n{OK}",
    "a symbolic link outside": f"import os\nos.symlink('own', FOLDER + '/new')\n{OK}",
    "a pipe outside": f"import os\nos.mkfifo(FOLDER + '/new')\n{OK}",
    "a socket's file outside": f"import os\nos.mknod(FOLDER + '/new', 0o140600)\n{OK}",
    "the disk as a device": f"import os\nos.mknod('disk', 0o60600, os.stat(SECRET).st_dev)\nopen('disk', 'rb').read(1)\n{OK}",
    "memory as a device": f"import os\nos.mknod('memory', 0o20600, os.makedev(1, 1))\nopen('memory', 'rb')\n{OK}",
    "shared memory as a folder": f"import os\nopen('/dev/shm/leaf-escape', 'w').close()\nos.unlink('/dev/shm/leaf-escape')\n{OK}",
    "the common temporary folder": f"import os\nopen('/tmp/leaf-escape', 'w').close()\nos.unlink('/tmp/leaf-escape')\n{OK}",
    "look into the data folder": f"import os\nos.listdir(FOLDER + '/home')\n{OK}",
    "space in attributes of a file": f"import os\nopen('own', 'w').close()\nos.setxattr('own', 'user.x', b'x' * 2000)\n{OK}",
    # a file of the chat, which is the app's own under another name
    "write to an input": f"open(open_file('f1'), 'w').write('x')\n{OK}",
    "append to an input": f"open(open_file('f1'), 'a').write('x')\n{OK}",
    "empty an input while reading it": f"import os\nos.open(open_file('f1'), os.O_RDONLY | os.O_TRUNC)\n{OK}",
    "write to an input in memory": f"import mmap, os\nm = mmap.mmap(os.open(open_file('f1'), os.O_RDWR), 4)\nm[:1] = b'x'\n{OK}",
    "write to an input by its descriptor": f"f = open(open_file('f1'))\nopen(f'/proc/self/fd/{{f.fileno()}}', 'a').write('x')\n{OK}",
    "delete an input": f"import os\nos.unlink(open_file('f1'))\n{OK}",
    "put another file in an input's place": f"import os\nopen('own', 'w').close()\nos.replace('own', open_file('f1'))\n{OK}",
    "write to an input under a new name": f"import os\nos.link(open_file('f1'), 'mine')\nopen('mine', 'a').write('x')\n{OK}",
    "move an input and write to it": f"import os\nos.rename(open_file('f1'), 'mine')\nopen('mine', 'a').write('x')\n{OK}",
    "change the mode of an input": f"import os\nos.chmod(open_file('f1'), 0o777)\n{OK}",
    "change the mode of an open input": f"import os\nos.fchmod(open(open_file('f1')).fileno(), 0o777)\n{OK}",
    "change the times of an input": f"import os\nos.utime(open_file('f1'), (1, 1))\n{OK}",
    "set a flag of an input": f"import fcntl, struct\nfcntl.ioctl(open(open_file('f1')), 0x40086602, struct.pack('l', 0x80))\n{OK}",
    "a pipe beside an input": f"import os\nos.mkfifo(os.path.dirname(open_file('f1')) + '/new')\n{OK}",
    # processes and the kernel, by other ways
    "another program that writes outside": "import os\nos.execv('/bin/sh', ['sh', '-c', f'echo x > {FOLDER}/new && echo ESCAPED'])",
    "another process by a way around": f"open(f'/proc/self/../{{APP}}/environ').read()\n{OK}",
    "have another process killed first": f"open(f'/proc/{{VICTIM}}/oom_score_adj', 'w').write('1000')\n{OK}",
    "compare with another process": f"{LIBC}assert libc.syscall(312, os.getpid(), APP, 0, 0, 0) >= 0\n{OK}",
    "pages of another process": f"{LIBC}assert libc.syscall(279, VICTIM, 0, None, None, None, 0) == 0\n{OK}",
    "locks of another process": f"{LIBC}p, n = ctypes.c_void_p(), ctypes.c_size_t()\nassert libc.syscall(274, VICTIM, ctypes.byref(p), ctypes.byref(n)) == 0\n{OK}",
    "read another's limits": f"import resource\nresource.prlimit(VICTIM, resource.RLIMIT_NOFILE)\n{OK}",
    "slow another's disk down": f"{LIBC}assert libc.syscall(251, 1, VICTIM, 3 << 13) == 0\n{OK}",
    "another's scheduler": f"import os\nos.sched_setscheduler(VICTIM, os.SCHED_IDLE, os.sched_param(0))\n{OK}",
    "kill by a signal for ready data": (
        f"{LIBC}import fcntl, socket\na, b = socket.socketpair()\n"
        "for command, value in ((8, VICTIM), (10, 9), (4, fcntl.fcntl(a, 3) | 0x2000)):\n    fcntl.fcntl(a, command, value)\n"
        f"b.send(b'x')\n{OK}"
    ),
    "a signal to a group by F_SETOWN": f"import fcntl, os\nr, w = os.pipe()\nfcntl.fcntl(r, fcntl.F_SETOWN, -VICTIM)\n{OK}",
    "a signal by a timer": (
        f"{LIBC}import struct\nt = ctypes.c_int()\n"
        "e = ctypes.create_string_buffer(struct.pack('Qiii', 0, 9, 4, VICTIM) + bytes(44))\n"
        f"assert libc.syscall(222, 1, e, ctypes.byref(t)) == 0\n{OK}"
    ),
    "other groups": f"import os\nos.setgroups([4])\n{OK}",
    "a larger limit of a file": f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1 << 50, 1 << 50))\n{OK}",
    "a mount by the newer calls": f"{LIBC}assert libc.syscall(430, b'tmpfs', 0) >= 0\n{OK}",
    "a copy of all mounts": f"{LIBC}assert libc.syscall(428, -100, b'/', 1) >= 0\n{OK}",
    "the kernel's log": f"{LIBC}assert libc.klogctl(3, ctypes.create_string_buffer(4096), 4096) >= 0\n{OK}",
    "write to the kernel's log": f"open('/dev/kmsg', 'w')\n{OK}",
    "ports of the machine": f"{LIBC}assert libc.syscall(172, 3) == 0\n{OK}",
    "memory that nobody else can see": f"{LIBC}assert libc.syscall(447, 0) >= 0\n{OK}",
    "a terminal": f"import os\nos.openpty()\n{OK}",
    "control groups": f"import os\nassert os.listdir('/sys/fs/cgroup')\n{OK}",
    "a setting of the kernel": f"open('/proc/sys/vm/swappiness', 'r+')\n{OK}",
    "record what others run": f"{LIBC}assert libc.acct(SECRET.encode()) == 0\n{OK}",
    # network, by other ways
    "connect by several ways at once": f"import socket\nsocket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(('127.0.0.1', TCP))\n{OK}",
    "connect with the first data": f"import socket\nsocket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', TCP))\n{OK}",
    "ping": f"import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)\n{OK}",
    "ciphers of the kernel": f"import socket\nsocket.socket(38, socket.SOCK_SEQPACKET).bind(('hash', 'sha256'))\n{OK}",
    "a socket of any family": (
        "import socket\nfor family in range(1, 46):\n    for kind in (1, 2, 3, 5):\n        try:\n            socket.socket(family, kind)\n"
        f"            {OK}\n        except OSError:\n            pass\n"
    ),
    # processes and the kernel, by raw calls
    "clone by the newer call": (
        f"{LIBC}import struct\na = ctypes.create_string_buffer(struct.pack('11Q', 0, 0, 0, 0, 17, *[0] * 6))\n"
        f"pid = libc.syscall(435, a, 88)\nif pid == 0:\n    os._exit(0)\nassert pid > 0\n{OK}"
    ),
    "a sibling by clone": f"{LIBC}pid = libc.syscall(56, 0x8000 | 17, 0, 0, 0, 0)\nif pid == 0:\n    os._exit(0)\nassert pid > 0\n{OK}",
    "a process by the calls of another machine": (
        "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(bytes.fromhex('b802000000cd80c3'))\n"  # fork, by int 0x80
        "pid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()\n"
        f"if pid == 0:\n    ctypes.CDLL(None)._exit(0)\nassert pid > 0\n{OK}"
    ),
    "a program by its folder": f"{LIBC}libc.syscall(322, -100, b'missing', None, None, 0)\nassert ctypes.get_errno() == 2\n{OK}",
    "outlive the app": f"{LIBC}assert libc.prctl(1, 0, 0, 0, 0) == 0\n{OK}",
    "outlive the app by a number of 64 bits": f"{LIBC}assert libc.syscall(157, ctypes.c_long(1 << 32 | 1), 0, 0, 0, 0) == 0\n{OK}",
    "a session of one's own": f"{LIBC}assert libc.setsid() >= 0 or libc.syscall(109, 0, 0) == 0\n{OK}",
    "signal the own group": f"import os\nos.kill(0, 0)\n{OK}",
    "signal the parent by its descriptor": f"import os, signal\nsignal.pidfd_send_signal(os.pidfd_open(os.getppid()), 0)\n{OK}",
    "read the parent's orders": f"open(f'/proc/{{__import__(\"os\").getppid()}}/mem', 'rb')\n{OK}",
    "the parent's descriptors": f"import os\nassert os.listdir(f'/proc/{{os.getppid()}}/fd')\n{OK}",
    "a socket that was left open": (
        "import os, stat\nfor fd in range(3, 512):\n    try:\n        kind = os.fstat(fd).st_mode\n    except OSError:\n        continue\n"
        f"    if stat.S_ISSOCK(kind):\n        {OK}\n"
    ),
    "a core of one's own": f"{LIBC}assert libc.prctl(62, 1, 0, 1, 0) == 0 or ctypes.get_errno() == 22\n{OK}",
    "memory that is shared where it is the same": f"{LIBC}assert libc.prctl(67, 1, 0, 0, 0) == 0\n{OK}",
    "a place for asynchronous reading": f"{LIBC}c = ctypes.c_ulong()\nassert libc.syscall(206, 8, ctypes.byref(c)) == 0\n{OK}",
    "write what others have not yet written": f"{LIBC}assert libc.syncfs(os.open('.', os.O_RDONLY)) == 0\n{OK}",
    "pages that are set aside for others": f"{LIBC}libc.syscall(9, ctypes.c_long(0), ctypes.c_long(2 << 20), 3, 0x40022, -1, ctypes.c_long(0))\nassert ctypes.get_errno() != 13\n{OK}",
    "places for signals that others need": (
        "import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [40])\nfor _ in range(3000):\n    os.kill(os.getpid(), 40)\n"
        f"assert int(open('/proc/self/status').read().partition('SigQ:')[2].split('/')[0]) > 2000\n{OK}"
    ),
    "segments of the processor": f"{LIBC}assert libc.syscall(154, 0, ctypes.create_string_buffer(16), 16) >= 0\n{OK}",
    # the machine, by way of the own folder in /proc
    "connections of the machine": f"open('/proc/self/net/tcp').read()\n{OK}",
    "sockets of the machine by a thread": f"import os\nopen(f'/proc/self/task/{{os.getpid()}}/net/unix').read()\n{OK}",
    "routes of the machine": f"open('/proc/thread-self/net/route').read()\n{OK}",
    "what is mounted": f"assert ' rootfs ' not in open('/proc/self/mountinfo').read()\n{OK}",
    "pairs of sockets of any family": (
        "import socket\nfor family in (2, 10, 16, 17, 30, 40, 44):\n    try:\n        socket.socketpair(family)\n    except OSError as e:\n"
        f"        if e.errno == 13:\n            continue\n    {OK}\n"
    ),
    "send several messages with an open file": (
        f"{LIBC}import socket\na, b = socket.socketpair()\nassert libc.sendmmsg(a.fileno(), ctypes.create_string_buffer(64), 1, 0) >= 0\n{OK}"
    ),
}
NOT_PLAIN = {
    *(
        "kill every process",
        "stop the app",
        "reboot",
        "change the host's name",
        "change the clock",
        "mount",
        "be traced",
    ),
    *(
        "leave compiled code behind",
        "shared memory of System V",
        "a message queue",
        "load a module",
        "record what others run",
    ),
}
"""Not tried in a plain process: they would take the machine down, or leave something on it."""

BOMBS = {
    "a loop without an end": "while True:\n    pass",
    "a loop in C": "sum(range(10**15))",
    "a big power": "x = 7 ** (10 ** 10)",
    "a bad regular expression": "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')",
    "sleep": "import time\ntime.sleep(1000)",
    "a loop that catches everything": "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
    "signals ignored": "import signal\nfor n in range(1, 32):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n    except OSError:\n        pass\nwhile True:\n    pass",
    "a fork bomb": "import os\nwhile True:\n    os.fork()",
    "threads without end": "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(1000,)).start()",
    "threads that count": "import threading\ndef f():\n    while True:\n        pass\nfor _ in range(50):\n    threading.Thread(target=f).start()",
    "memory by lists": "x = []\nwhile True:\n    x.append(bytearray(10**7))",
    "memory by strings": "x = 'x'\nwhile True:\n    x += x",
    "memory at once": "x = b'x' * 10**11",
    "memory by numpy": "import numpy as np\nx = [np.ones(10**6) for _ in range(10**5)]",
    "memory by shared mappings": "import mmap\nm = [mmap.mmap(-1, 10**8) for _ in range(100)]\nfor x in m:\n    x.write(b'x' * 10**8)",
    "memory by a recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f():\n    return f()\nf()",
    "memory by duckdb": "query(\"SELECT repeat('x', 4000000000)\")",
    "memory by a join": "import pandas as pd\nd = pd.DataFrame({'k': [1] * 10**5})\nd.merge(d, on='k')",
    "one printed line of a gigabyte": "print('x' * 10**9)",
    "a gigabyte printed": "while True:\n    print('x' * 10**6)",
    "a gigabyte past Python": "import os\nwhile True:\n    os.write(1, b'x' * 10**6)",
    "a file that grows": "f = open('big', 'wb')\nwhile True:\n    f.write(b'x' * 10**6)",
    "files without end": "n = 0\nwhile True:\n    open(f'f{n}', 'w').close()\n    n += 1",
    "folders without end": "import os\nwhile True:\n    os.mkdir('d')\n    os.chdir('d')",
    "files deeper than a path": "import os\nfor n in range(3000):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\nf = open('big', 'wb')\nwhile True:\n    f.write(b'x' * 10**6)",
    "files that have no name": "import os\nkept = []\nfor n in range(20):\n    f = open('gone', 'wb')\n    os.unlink('gone')\n    for _ in range(60):\n        f.write(b'x' * 10**6)\n    f.flush()\n    kept.append(f)\nprint('ESCAPED')",
    "files that never had a name": "import os\nkept = []\nfor n in range(20):\n    f = os.fdopen(os.open('.', os.O_TMPFILE | os.O_RDWR), 'wb')\n    for _ in range(60):\n        f.write(b'x' * 10**6)\n    f.flush()\n    kept.append(f)\nprint('ESCAPED')",
    "files that are only mapped": "import ctypes, os\nlibc = ctypes.CDLL(None)\nlibc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]\nfor n in range(20):\n    f = open('gone', 'w+b')\n    for _ in range(60):\n        f.write(b'x' * 10**6)\n    f.flush()\n    libc.mmap(None, 4096, 3, 1, f.fileno(), 0)\n    os.unlink('gone')\n    f.close()\nprint('ESCAPED')",
    "space without writing": "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nfor n in range(100):\n    fd = os.open(f'f{n}', os.O_RDWR | os.O_CREAT)\n    assert libc.fallocate(fd, 1, ctypes.c_long(0), ctypes.c_long(60 << 20)) == 0\nprint('ESCAPED')",
    "a file of holes": "open('holes', 'wb').truncate(10**12)\nwhile True:\n    pass",
    "descriptors without end": "import os\nx = []\nwhile True:\n    x.append(os.pipe())",
    "a value without end": "class A:\n    def __repr__(self):\n        return 'x' * 10**9\nA()",
    "a repr that never ends": "class A:\n    def __repr__(self):\n        while True:\n            pass\nA()",
    "an exception of a gigabyte": "raise ValueError('x' * 10**9)",
    "an exception that never ends": "class E(Exception):\n    def __str__(self):\n        while True:\n            pass\nraise E",
    "a frame of a billion rows": "import pandas as pd, numpy as np\npd.DataFrame({'a': np.arange(10**9)})",
    "a figure of a million inches": "import matplotlib.pyplot as plt\nplt.figure(figsize=(10**6, 10**6))\nwhile True:\n    pass",
    "a deep literal": "x = " + "[" * 5_000 + "]" * 5_000,
    "an answer that never comes": "import os\nfor fd in range(3, 30):\n    try:\n        os.close(fd)\n    except OSError:\n        pass",
    "the child ends": "import os\nos._exit(0)",
    "the child crashes": "import ctypes\nctypes.string_at(0)",
    "the child aborts": "import os\nos.abort()",
    "the child stops itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "the stack overflows": "import sys, ctypes\nctypes.pythonapi.Py_SetRecursionLimit(10**9)\ndef f(n):\n    return [f(n)]\nf(1)",
}

_TAKE = "import os\nkept = []\ndef take(n):\n    f = open(f'f{n}', 'wb')\n    f.write(b'x' * 10**6)\n    f.close()\n"
DISK = {
    "many small files": "for n in range(20_000):\n    open(f'f{n}', 'w').write('x')\nprint('ESCAPED')",
    "folders without files": "import os\nfor n in range(20_000):\n    os.mkdir(f'd{n}')\nprint('ESCAPED')",
    "links with long targets": "import os\nfor n in range(20_000):\n    os.symlink('x' * 4000, f'l{n}')\nprint('ESCAPED')",
    "pipes as files": "import os\nfor n in range(20_000):\n    os.mkfifo(f'p{n}')\nprint('ESCAPED')",
    "folders that stay large": (
        "import os\nfor d in range(30):\n    os.mkdir(f'd{d}')\n    names = [f'd{d}/{n:04}' + 'x' * 240 for n in range(1500)]\n"
        "    for name in names:\n        open(name, 'w').close()\n    for name in names:\n        os.unlink(name)\n"
        "assert sum(os.stat(f'd{d}').st_size for d in range(30)) > 9 << 20\nprint('ESCAPED')"
    ),
    "files in the folder of answers": "import os\nos.chdir('../out')\nfor n in range(40):\n    open(f'f{n}', 'wb').write(b'x' * 10**6)\nprint('ESCAPED')",
    "files in a folder without rights": "import os\nos.mkdir('d', 0o300)\nos.chdir('d')\nfor n in range(40):\n    open(f'f{n}', 'wb').write(b'x' * 10**6)\nprint('ESCAPED')",
    "files of a process that hides": (
        "import ctypes, os\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nkept = []\nfor n in range(40):\n    f = open('gone', 'wb')\n    os.unlink('gone')\n"
        "    f.write(b'x' * 10**6)\n    f.flush()\n    kept.append(f)\nprint('ESCAPED')"
    ),
    "files that are mapped and never had a name": (
        "import mmap, os\nkept = []\nfor n in range(40):\n    fd = os.open('.', os.O_TMPFILE | os.O_RDWR)\n    os.truncate(fd, 10**6)\n"
        "    m = mmap.mmap(fd, 10**6)\n    m[:] = b'x' * 10**6\n    os.close(fd)\n    kept.append(m)\nprint('ESCAPED')"
    ),
    "files that are mapped deeper than a path": (
        "import mmap, os\nfor n in range(30):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\nkept = []\nfor n in range(40):\n"
        "    f = open('gone', 'w+b')\n    f.truncate(10**6)\n    m = mmap.mmap(f.fileno(), 10**6)\n    m[:] = b'x' * 10**6\n    os.unlink('gone')\n"
        "    f.close()\n    kept.append(m)\nprint('ESCAPED')"
    ),
    "holes that are filled in memory": (
        "import mmap\nkept = []\nfor n in range(40):\n    f = open(f'f{n}', 'w+b')\n    f.truncate(10**6)\n    m = mmap.mmap(f.fileno(), 10**6)\n"
        "    m[:] = b'x' * 10**6\n    kept.append(m)\nprint('ESCAPED')"
    ),
    "files in a folder that moves": (
        _TAKE
        + "import threading\nos.makedirs('a/x')\nos.mkdir('b')\ndef move():\n    while True:\n        os.rename('a/x', 'b/x')\n        os.rename('b/x', 'a/x')\n"
        "threading.Thread(target=move, daemon=True).start()\nat = os.open('a/x', os.O_RDONLY)\nfor n in range(200):\n"
        "    f = os.open(f'f{n}', os.O_CREAT | os.O_WRONLY, dir_fd=at)\n    os.write(f, b'x' * 10**6)\n    os.close(f)\nprint('ESCAPED')"
    ),
    "copies that the kernel makes": _TAKE
    + "take(0)\nfor n in range(1, 40):\n    with open('f0', 'rb') as a, open(f'f{n}', 'wb') as b:\n        os.copy_file_range(a.fileno(), b.fileno(), 10**6)\nprint('ESCAPED')",
    "files of many threads": _TAKE
    + "import threading\nt = [threading.Thread(target=take, args=(n,)) for n in range(40)]\nfor x in t:\n    x.start()\nfor x in t:\n    x.join()\nprint('ESCAPED')",
    "files of a thread with descriptors of its own": (
        _TAKE
        + "import ctypes, threading\nlibc = ctypes.CDLL(None, use_errno=True)\ndef hide():\n    assert libc.unshare(0x400) == 0\n    for n in range(40):\n"
        "        f = open('gone', 'wb')\n        os.unlink('gone')\n        f.write(b'x' * 10**6)\n        f.flush()\n        kept.append(f)\n    done.set()\n    threading.Event().wait()\n"
        "done = threading.Event()\nthreading.Thread(target=hide, daemon=True).start()\nassert done.wait(2)\nprint('ESCAPED')"
    ),
    "files that are written when the answer is there": (
        _TAKE
        + "import threading, time\ndef later():\n    time.sleep(0.05)\n    for n in range(400):\n        take(n)\n    open('../out/ESCAPED', 'w').close()\nthreading.Thread(target=later).start()\ntime.sleep(0.04)"
    ),
}
"""What takes more of the disk than the 8 MB that there are: each says so if it was let to its end."""

_CELLS = "import sys\ncells = sys.modules['leaf.sandbox.cells']\n"
LIES = {
    "an answer of a gigabyte": _CELLS
    + "cells.Notebook.run = lambda self, r: {'printed': 'x' * 10**9}\n",
    "answers without end": "import os\nwhile True:\n    for fd in range(3, 12):\n        try:\n            os.write(fd, b'{}\\n')\n        except OSError:\n            pass",
    "a line without end": "import os\nwhile True:\n    for fd in range(3, 12):\n        try:\n            os.write(fd, b'[' * 10**6)\n        except OSError:\n            pass",
    "an answer of nothing but lists": "import os\nfor fd in range(3, 12):\n    data = memoryview(b'[' + b'[],' * 20_000_000 + b'[]]\\n')\n    try:\n        while data:\n            data = data[os.write(fd, data):]\n    except OSError:\n        pass",
    "lines while a table is supplied": 'import os\ndef say(line):\n    for fd in range(3, 12):\n        try:\n            os.write(fd, line)\n        except OSError:\n            pass\nsay(b\'{"need": "file", "name": "slow"}\\n\')\nwhile True:\n    say(b\'{}\\n\' * 20_000)',
    "progress without end": "import os\nwhile True:\n    for fd in range(3, 12):\n        try:\n            os.write(fd, b'{\"progress\": [1, 2]}\\n' * 1_000)\n        except OSError:\n            pass",
    "needs of no kind": 'import os\nfor fd in range(3, 12):\n    try:\n        os.write(fd, b\'{"need": [1], "name": {}}\\n\')\n    except OSError:\n        pass\nwhile True:\n    pass',
    "needs without end": "import os, json\nwhile True:\n    try:\n        open_file('x')\n    except Exception:\n        pass",
    "an answer that is nested": "import os\nfor fd in range(3, 12):\n    try:\n        os.write(fd, b'[' * 100000 + b'\\n')\n    except OSError:\n        pass",
    "a number without end": "import os\nfor fd in range(3, 12):\n    try:\n        os.write(fd, b'{\"id\": ' + b'9' * 100000 + b'}\\n')\n    except OSError:\n        pass",
    "a frame that is a link": _CELLS
    + "import os\ncells.frames.write = lambda f, p: os.symlink('/etc/passwd', p) or []\nimport pandas as pd\npd.DataFrame({'a': [1]})",
    "a frame that is a pipe": _CELLS
    + "import os\ncells.frames.write = lambda f, p: os.mkfifo(p) or []\nimport pandas as pd\npd.DataFrame({'a': [1]})",
    "a frame that is a folder": _CELLS
    + "import os\ncells.frames.write = lambda f, p: os.mkdir(p) or []\nimport pandas as pd\npd.DataFrame({'a': [1]})",
    "a name that leads out": _CELLS
    + "cells.Notebook._results = lambda self, v, o: {'frames': [{'file': '../../../../../etc/passwd', 'name': 'x'}]}\n1",
    "a figure that is no picture": _CELLS
    + "cells._draw_figures = lambda out: (['/etc/passwd', {}, 5], [])\n1",
    "text that is no text": _CELLS
    + "cells.Notebook.run = lambda self, r: {'printed': {'a': 1}, 'value': [1], 'error': 5, 'frames': 'x', 'figures': None}\n",
    "a time that is no time": _CELLS
    + "cells.Notebook.run = lambda self, r: {'printed': '', 'seconds': float('nan'), 'characters': -10**40}\n",
    "control characters": "print('\\x1b[2J\\x00\\x07\\udcff')",
    "a pickle that runs": "import pickle\nclass A:\n    def __reduce__(self):\n        return (print, ('ran where it was read',))\npickle.dumps(A())",
    "json replaced": _CELLS + "cells.json.dumps = lambda x: '{\"id\": 1}'\n",
    "the module of the app replaced": "import leaf.sandbox.sessions as s\ns.LIMITS = None\ns.Sessions = None",
    "the builtins replaced": "import builtins\nbuiltins.len = builtins.str = None",
    "an answer for the next question": 'import os\nfor fd in range(3, 12):\n    try:\n        os.write(fd, b\'{"id": "x"}\\n{"id": "x", "printed": "ESCAPED"}\\n\')\n    except OSError:\n        pass',
    "an answer of several million values": _CELLS
    + "cells.Notebook.run = lambda self, r: {'notes': ['x'] * 3_000_000}\n",
    "a hundred thousand frames": _CELLS
    + "cells.Notebook._results = lambda self, v, o: {'frames': [{'file': f'frame{n}.parquet', 'name': 'x'} for n in range(100_000)]}\n1",
    "a frame of holes": _CELLS
    + "import os\ncells.frames.write = lambda f, p: open(p, 'wb').truncate(60 << 20) and []\nimport pandas as pd\npd.DataFrame({'a': [1]})",
    "a frame that is an input": _CELLS
    + "import os\npath = open_file('f1')\ncells.frames.write = lambda f, p: os.link(path, p) or []\nimport pandas as pd\npd.DataFrame({'a': [1]})",
    "a frame with a name of code": _CELLS
    + "cells.Notebook._results = lambda self, v, o: {'frames': [{'file': 'frame1.parquet', 'name': '__import__(\"os\")'}]}\n1",
    "a figure that is a link": _CELLS
    + "import os\ncells._draw_figures = lambda out: (os.symlink(SECRET, out / 'figure1.png') or ['figure1.png'], [])\n1",
    "a figure of a hundred megabytes": _CELLS
    + "cells._draw_figures = lambda out: (open(out / 'figure1.png', 'wb').truncate(60 << 20) and ['figure1.png'], [])\n1",
    "a failure of a gigabyte": _CELLS
    + "cells.Notebook.run = lambda self, r: {'error': {'type': 'x' * 10**8, 'message': 'x' * 10**8, 'line': 10**30, 'text': 'x' * 10**8}}\n",
    "a need of a path": 'import os\nfor fd in range(3, 12):\n    try:\n        os.write(fd, b\'{"need": "file", "name": "../../../../etc/passwd"}\\n\')\n    except OSError:\n        pass',
    "a need of an unknown kind": 'import os\nfor fd in range(3, 12):\n    try:\n        os.write(fd, b\'{"need": "settings", "name": "keys"}\\n\')\n    except OSError:\n        pass',
    "a line that is no text": "import os\nfor fd in range(3, 12):\n    try:\n        os.write(fd, b'\\xff\\xfe\\x00{}\\n' * 100)\n    except OSError:\n        pass",
    "half a line and the end": 'import os\nfor fd in range(3, 12):\n    try:\n        os.write(fd, b\'{"id": "\')\n    except OSError:\n        pass\nos._exit(0)',
    "numbers that are none": _CELLS
    + "cells.Notebook.run = lambda self, r: {'seconds': float('inf'), 'characters': True}\n",
    "a written file that is a link": "import os\nos.symlink(SECRET, 'stolen.txt')",
    "a written folder that is a link": "import os\nos.symlink(FOLDER, 'stolen')",
    "a written file that is a pipe": "import os\nos.mkfifo('stolen.txt')",
    "a written file that becomes a link": (
        "import os, threading\ndef turn():\n    while True:\n        open('own', 'w').close()\n        os.rename('own', 'stolen.txt')\n        os.symlink(SECRET, 'link')\n        os.rename('link', 'stolen.txt')\n"
        "threading.Thread(target=turn, daemon=True).start()"
    ),
    "written files without end": "for n in range(5000):\n    open(f'f{n}.txt', 'w').close()",
    "a written file with a name of code": "open('<script>\\u202e\\n.txt', 'w').write('x')",
}

QUERIES = {
    "read a file": "SELECT * FROM read_csv('SECRET')",
    "read a file by name": "SELECT * FROM 'SECRET'",
    "read a file as text": "SELECT content FROM read_text('SECRET')",
    "read a file as bytes": "SELECT content FROM read_blob('SECRET')",
    "find files": "SELECT * FROM glob('/etc/*')",
    "write a file": "COPY (SELECT 1) TO 'SECRET'",
    "write in a CTE": "WITH x AS (COPY (SELECT 1) TO 'SECRET') SELECT * FROM x",
    "overwrite the input": "COPY (SELECT 9 AS a) TO 't.parquet'",
    "attach": "ATTACH 'SECRET' AS x",
    "install": "INSTALL httpfs",
    "load": "LOAD '/tmp/x.duckdb_extension'",
    "a setting": "SET enable_external_access = true",
    "a pragma": "PRAGMA database_list",
    "the environment": "SELECT getenv('HOME') AS h WHERE getenv('LEAF_BENCH_KEY') = 'sk-secret'",
    "the web": "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')",
    "a Python variable": "SELECT * FROM arguments",
    "several statements": "SELECT 1; COPY (SELECT 1) TO 'SECRET'",
    "export": "EXPORT DATABASE 'SECRET'",
    "memory by a string": "SELECT length(repeat('x', 4000000000)) AS n, repeat('y', 3000000000) AS y",
    "memory by padding": "SELECT lpad('x', 2000000000, 'y')",
    "memory by a list": "SELECT list(range) FROM range(1000000000)",
    "time by a join": "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 1",
    "time by a recursion": "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "time by levenshtein": "SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))",
    "a result without end": "SELECT * FROM range(100000000000)",
}
