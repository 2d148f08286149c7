// Files on their way: what is dropped anywhere, chosen or pasted is sent beside the page's script, several at a time, and one list says how
// far each is. It is kept for the tab, so another chat may be opened meanwhile. leaf/ui/upload_list.py says what the page tells and what
// it is told, leaf/ui/upload_routes.py what is sent where.

const KEPT = Symbol.for("leaf.uploads")
const PARALLEL = 3
const TRIES = [1000, 4000]
const LOOK = 1000
const AGAIN = 3000
const OPEN_UP_TO = 6
const FEW = 20
const GONE_AFTER = 4000
const OFFERED = 30000 // while something can still be pressed
const DRAGS = 600
const TABLE_LINES = 20
const TABLE_CHARACTERS = 4000
const TEXT_CHARACTERS = 20_000
const LOOKED_AT = 2000

const COMPOSER = '[data-testid="stChatInput"]'
const TEXT = '[data-testid="stChatInputTextArea"]'
const SENDS = `${COMPOSER} [data-testid="stChatInputSubmitButton"]`
const LEFT_BEHIND = /^(\.DS_Store|Thumbs\.db|desktop\.ini|\._.*)$/i

const LOOKS_AGAIN = 500 // ms

class Uploads extends Figures {
  constructor() {
    super()
    this.local = new Map() // job/position -> what this tab sends
    this.unheard = new Map() // begun here and not listed yet -> the chat
    this.asking = false // whether it is not known yet what comes to this chat
    this.typed = "" // what is held back, for a field that forgets it
    this.again = 0
    this.queue = []
    this.active = 0
    this.jobs = []
    this.opened = new Map()
    this.notices = []
    this.data = {}
    this.pastes = 0
    this.beginning = 0
    this.begun = "" // the chat that was made for files, until the page shows it
    this.views = new Map()
    this.listen()
  }

  // The page

  mount(root, data, trigger) {
    const newKey = data.key !== this.data.key
    const another = data.here !== this.data.here
    this.data = data
    this.trigger = trigger
    if (root !== this.root) this.take(root)
    if (another) {
      this.jobs = []
      this.asking = Boolean(data.key)
    }
    if (another && data.chat !== this.begun) this.release()
    if (data.chat !== "new") this.begun = ""
    if (newKey) for (const one of this.local.values()) if (one.state === "failed" && one.line) this.enqueue(one)
    if (data.jobs || another || newKey) this.look()
    this.draw()
  }

  take(root) {
    this.root = root
    this.views = new Map()
    this.part = (name) => root.querySelector(`.leaf-uploads-${name}`)
    for (const field of root.querySelectorAll("input[type=file]")) {
      field.onchange = () => {
        const files = chosen(field.files)
        field.value = ""
        this.add(files)
      }
    }
  }

  unmount(root) {
    if (this.root !== root) return
    this.root = null
    this.hideZone()
  }

  listen() {
    const events = {
      dragenter: (event) => this.drag(event),
      dragover: (event) => this.drag(event),
      drop: (event) => this.drop(event),
      paste: (event) => this.paste(event),
      keydown: (event) => this.guard(event),
      click: (event) => this.guard(event),
    }
    window.addEventListener("input", (event) => {
      if (this.typed && event.target === document.querySelector(TEXT)) this.typed = event.target.value
    }, { capture: true })
    for (const [name, act] of Object.entries(events)) window.addEventListener(name, act, { capture: true })
    window.addEventListener("beforeunload", (event) => this.local.size && this.sends() && event.preventDefault())
    window.addEventListener("pagehide", () => this.leave())
    window.addEventListener("online", () => {
      for (const one of this.local.values()) if (one.state === "failed" && one.line) this.enqueue(one)
    })
  }

  sends() {
    return [...this.local.values()].some((one) => one.state === "sending" || one.state === "waiting")
  }

  tell(event, value) {
    this.root && this.trigger?.(event, value)
  }

  // What is given

  drag(event) {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return
    event.preventDefault()
    event.dataTransfer.dropEffect = this.root ? "copy" : "none"
    if (!this.root) return
    event.stopPropagation()
    this.showZone()
    clearTimeout(this.drags)
    this.drags = setTimeout(() => this.hideZone(), DRAGS)
  }

  async drop(event) {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return
    event.preventDefault()
    if (!this.root) return
    event.stopPropagation()
    this.hideZone()
    try {
      this.add(await dropped(event.dataTransfer))
    } catch {
      this.say(t("What was dropped could not be read. Choose it with Attach."))
    }
  }

  showZone() {
    const colours = getComputedStyle(this.root)
    if (!this.zone) {
      this.zone = make("div", "leaf-uploads-zone", make("span"))
      this.zone.setAttribute("aria-hidden", "true")
      document.body.append(this.zone)
    }
    set(this.zone.firstChild, this.data.drop)
    for (const name of ["primary-color", "background-color", "text-color", "font"])
      this.zone.style.setProperty(`--st-${name}`, colours.getPropertyValue(`--st-${name}`))
    this.zone.hidden = false
  }

  hideZone() {
    if (this.zone) this.zone.hidden = true
  }

  paste(event) {
    const into = event.target instanceof Element ? event.target : null
    const free = into === document.body || into?.closest(COMPOSER)
    if (!this.root || this.data.here === "files" || !free || !event.clipboardData) return
    const text = event.clipboardData.getData("text/plain")
    const files = [...event.clipboardData.files]
    const table = tableOf(text)
    const long = table || (text.length > TEXT_CHARACTERS ? "txt" : "")
    if (!long && (text.trim() || !files.length)) return
    event.preventDefault()
    event.stopImmediatePropagation()
    this.pastes += 1
    if (!long) {
      const name = (file) => (file.name === "image.png" ? t("pasted picture {n}.png", { n: this.pastes }) : file.name)
      this.add(files.map((file) => ({ file, path: name(file) })))
      return
    }
    const path = `${table ? t("pasted table") : t("pasted text")} ${this.pastes}.${long}`
    this.add([{ file: new File([text], path), path, text, table: Boolean(table) }])
  }

  async add(files) {
    const some = files.filter(({ path }) => !LEFT_BEHIND.test(path.split("/").pop()))
    if (files.length > some.length)
      this.say(t("{files} that systems put into folders (as .DS_Store) were left out.", { files: fileCount(files.length - some.length) }))
    if (!some.length || !this.root) return files.length || this.say(t("There is no file in it."))
    const { chat } = this.data
    this.beginning += 1
    this.draw()
    const names = some.map(({ file, path }) => [path, file.size])
    const begun = await this.call("POST", "", { chat, files: names })
    this.beginning -= 1
    if (!begun.ok) {
      this.say(t("{what}: not added. {why}", { what: some.length === 1 ? some[0].path : fileCount(some.length), why: begun.error }))
      return
    }
    const { job, chat: target } = begun.given
    this.unheard.set(job, target)
    some.forEach(({ file, path, text, table }, number) => {
      if (file.size > this.data.most) return
      this.enqueue({ key: `${job}/${number}`, job, number, file, path, sent: 0, tries: 0 })
      if (text) this.pasted(job, number, path, text, table)
    })
    this.opened.set(job, some.length <= OPEN_UP_TO)
    this.hear(t("Adding {files}.", { files: fileCount(some.length) }))
    this.look()
    if (chat !== "new" || this.data.chat !== "new") return
    this.begun = target
    this.tell("chat", target)
  }

  pasted(job, number, path, text, table) {
    const lines = text.split(/\r\n?|\n/).filter((line) => line.trim()).length
    const given = { lines: n_("{n} line", "{n} lines", lines), path }
    const said = table
      ? t("The pasted table ({lines}) is beside the question as the file “{path}”.", given)
      : t("The pasted text ({lines}) is beside the question as the file “{path}”.", given)
    const notice = this.say(said, job)
    notice.act = [t("Put it in as text"), async () => {
      this.dropNotice(notice)
      this.forgetLocal(`${job}/${number}`)
      await this.call("DELETE", `/${job}/${number}`)
      await this.close(job)
      const field = document.querySelector(TEXT)
      if (field) write(field, text)
    }]
    this.draw()
  }

  // Sending

  enqueue(one) {
    one.state = "waiting"
    one.problem = ""
    this.local.set(one.key, one)
    if (!this.queue.includes(one)) this.queue.push(one)
    this.pump()
    this.draw()
  }

  pump() {
    while (this.active < PARALLEL && this.queue.length) this.send(this.queue.shift())
  }

  send(one) {
    const request = new XMLHttpRequest()
    const over = () => {
      this.active -= 1
      one.request = null
      this.pump()
      this.soon()
      this.draw()
    }
    this.active += 1
    one.state = "sending"
    one.sent = 0
    one.request = request
    request.open("PUT", `${this.data.path}/${one.key}`)
    request.setRequestHeader("x-leaf-key", this.data.key)
    request.setRequestHeader("content-type", "application/octet-stream")
    request.upload.onprogress = (event) => {
      one.sent = event.loaded
      this.draw()
    }
    request.onload = () => {
      if (request.status === 204) this.forgetLocal(one.key)
      else this.refused(one, request)
      over()
    }
    request.onerror = () => {
      this.cut(one)
      over()
    }
    request.onabort = over
    request.send(one.file)
  }

  refused(one, request) {
    let said = {}
    try {
      said = JSON.parse(request.responseText)
    } catch {}
    if (said.why === "busy") return this.later(one, AGAIN)
    if (said.why === "key" && one.tries < 5) return (one.tries += 1), this.later(one, AGAIN)
    if (request.status === 404 || (request.status === 409 && !said.error)) return this.forgetLocal(one.key)
    one.state = "failed"
    one.problem = said.error || t("Leaf did not take it. Try again.")
  }

  cut(one) {
    one.tries += 1
    if (one.tries <= TRIES.length) return this.later(one, TRIES[one.tries - 1])
    one.state = "failed"
    one.line = true
    one.problem = t("The connection broke, or the file was changed meanwhile. Try again.")
  }

  later(one, wait) {
    one.state = "waiting"
    one.timer = setTimeout(() => this.local.has(one.key) && this.enqueue(one), wait)
  }

  forgetLocal(key) {
    const one = this.local.get(key)
    if (!one) return
    this.local.delete(key)
    clearTimeout(one.timer)
    this.queue = this.queue.filter((other) => other !== one)
    one.request?.abort()
  }

  // The tab is closed or loaded anew: what it was to send does not come. No other has these files, so their job alone is named: of a request
  // that outlives its page a browser takes 64 kB, and a folder has more names than that.
  leave() {
    for (const job of new Set([...this.local.values()].map((one) => one.job))) this.call("POST", `/${job}/left`, null, true)
  }

  async call(method, path, body, keepalive = false) {
    try {
      const answer = await fetch(this.data.path + path, {
        method,
        keepalive,
        cache: "no-store",
        headers: { "x-leaf-key": this.data.key, ...(body ? { "content-type": "application/json" } : {}) },
        body: body && JSON.stringify(body),
      })
      const given = answer.status === 204 ? null : await answer.json()
      return { ok: answer.ok, given, error: given?.error ?? "" }
    } catch {
      return { ok: false, error: t("Leaf cannot be reached. Try again.") }
    }
  }

  // How far it is

  soon(wait = 100) {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.look(), wait)
  }

  async look() {
    clearTimeout(this.timer)
    if (!this.data.key) return
    const { here } = this.data
    const begun = [...this.unheard.keys()]
    const answer = await this.call("GET", `?here=${encodeURIComponent(here)}`)
    if (here !== this.data.here) return
    this.asking = false
    if (answer.ok) {
      for (const job of begun) this.unheard.delete(job) // one that is not listed is over, and perhaps put away by another tab
      this.hearOf(answer.given)
    }
    const going = this.jobs.some((job) => !job.over) || this.sends()
    if (going) this.soon(answer.ok ? LOOK : AGAIN)
    this.draw()
  }

  hearOf(jobs) {
    for (const job of jobs) {
      this.unheard.delete(job.id)
      const before = this.jobs.find((one) => one.id === job.id)
      if (before && job.settled && !before.settled) this.hear(this.line(job))
      for (const item of job.items) {
        const one = this.local.get(`${job.id}/${item.n}`)
        const here = !["waiting", "sending", "failed"].includes(item.state)
        if (one && here && (one.state !== "sending" || item.state === "cancelled")) this.forgetLocal(one.key)
      }
      if (job.over && this.well(job)) this.closeSoon(job)
    }
    this.jobs = jobs
  }

  well(job) {
    const said = job.items.some((item) => item.said) || job.problem
    return !job.failed && !said && (job.total < FEW || job.cancelled === job.total)
  }

  closeSoon(job) {
    this.closing ??= new Set()
    if (this.closing.has(job.id)) return
    this.closing.add(job.id)
    const offers = this.notices.some((notice) => notice.job === job.id && notice.act)
    setTimeout(() => this.close(job.id), offers ? OFFERED : GONE_AFTER)
  }

  async close(id) {
    this.closed ??= new Set()
    if (this.closed.has(id)) return // by itself and as a question goes out: the second finds nothing
    this.closed.add(id)
    const answer = await this.call("POST", `/${id}/close`)
    if (!answer.ok) this.closed.delete(id)
    this.notices = this.notices.filter((notice) => notice.job !== id)
    this.look()
  }

  // A question waits for its files

  mine() {
    const chat = this.begun || this.data.chat
    return this.jobs.filter((job) => job.chat && job.chat === chat)
  }

  failed() {
    return this.mine().flatMap((job) => this.rows(job).filter((row) => row.state === "failed"))
  }

  comes() {
    const begins = this.beginning > 0 || (this.begun && this.data.chat !== this.begun)
    const chat = this.begun || this.data.chat
    const unheard = [...this.unheard.values()].includes(chat)
    return begins || unheard || this.asking || this.mine().some((job) => !job.over && !job.settled)
  }

  guard(event) {
    // Also while the page draws the list anew: a question must not slip through without its files.
    if (this.through || !this.data || this.data.here === "files" || !(event.target instanceof Element)) return
    const enters = event.type === "keydown" && event.key === "Enter" && !event.shiftKey && !event.isComposing
    const sends = event.type === "click" ? event.target.closest(SENDS) : enters && event.target.closest(`${COMPOSER} textarea`)
    const said = document.querySelector(TEXT)?.value.trim() || document.querySelector(SENDS)?.disabled === false
    if (!sends || !said) return // a recording alone is a question, too
    const failed = this.failed()
    if (!failed.length && !this.comes()) return this.sent()
    event.preventDefault()
    event.stopImmediatePropagation()
    this.held = "coming"
    this.typed = document.querySelector(TEXT).value
    this.draw()
  }

  sent(text = document.querySelector(TEXT)?.value ?? "") {
    window.dispatchEvent(new CustomEvent("leaf-sent", { detail: text }))
    for (const job of this.mine()) if (job.over) this.close(job.id)
    this.notices = []
    this.held = false
    this.typed = ""
    this.draw()
  }

  // A page that was connected again has made its field anew, and forgotten what stood in it.
  bringBack() {
    const field = document.querySelector(TEXT)
    if (this.typed && field && !field.value && !field.disabled) write(field, this.typed)
    if (!this.typed) return
    clearTimeout(this.again) // nothing tells when that happens
    this.again = setTimeout(() => this.draw(), LOOKS_AGAIN)
  }

  sendHeld() {
    const text = document.querySelector(TEXT)?.value ?? ""
    this.through = true
    document.querySelector(SENDS)?.click()
    this.through = false
    this.sent(text)
  }

  // The page asks for the same files as this list, so it is told as well.
  async sendWithout() {
    const chat = this.begun || this.data.chat
    const unheard = [...this.unheard].filter(([, target]) => target === chat).map(([job]) => job)
    const jobs = [...this.mine().map((job) => job.id), ...unheard]
    await Promise.all(jobs.map((job) => this.call("POST", `/${job}/without`)))
    this.sendHeld()
  }

  release() {
    this.held = false
    this.typed = ""
  }

  drawHint() {
    const hint = this.part("hint")
    const failed = this.held ? this.failed() : []
    if (failed.length) this.held = "failed" // whoever then puts that right sends it again
    if (this.held === "failed" && !failed.length && !this.comes()) this.held = false // not while the list is drawn anew
    if (this.held && !failed.length && !this.comes()) return this.sendHeld()
    hint.hidden = !this.held
    if (!this.held) return hint.replaceChildren()
    const names = failed.map((row) => row.name)
    const shown = names.slice(0, 3).join(", ") + (names.length > 3 ? t(" and {n} more", { n: names.length - 3 }) : "")
    const text = failed.length
      ? n_("Not sent: {shown} could not be added. Try again or remove it.", "Not sent: {shown} could not be added. Try again or remove them.", names.length, { shown })
      : t("Your question goes out as soon as its files are ready.")
    if (hint.firstChild?.textContent === text) return
    const said = make("p", "", text)
    said.setAttribute("role", "alert")
    hint.replaceChildren(
      said,
      press(failed.length ? t("Send without") : t("Send now"), "", () => this.sendWithout()),
      press(t("Keep writing"), "", () => (this.release(), this.draw())),
    )
  }

  // What is shown

  say(text, job = "") {
    const notice = { text, job }
    this.notices = [...this.notices.slice(-2), notice]
    this.hear(text)
    this.draw()
    return notice
  }

  hear(text) {
    if (this.root) set(this.part("heard"), text)
  }

  dropNotice(notice) {
    this.notices = this.notices.filter((one) => one !== notice)
    this.draw()
  }

  draw() {
    this.drawn ||= setTimeout(() => {
      this.drawn = 0
      if (this.root) this.drawNow()
    }, 80)
  }

  drawNow() {
    const said = this.part("said")
    const lines = this.notices.map((notice) => {
      const act = notice.act ? [press(notice.act[0], "", notice.act[1])] : []
      return (notice.line ??= make("div", "leaf-notice", make("p", "", notice.text), ...act, press("✕", t("Close this message"), () => this.dropNotice(notice))))
    })
    if (lines.length !== said.children.length || lines.some((line, i) => line !== said.children[i])) said.replaceChildren(...lines)
    const list = this.part("jobs")
    const shown = this.jobs.filter((job) => job.here || !job.over)
    for (const [id, view] of this.views) if (!shown.some((job) => job.id === id)) view.element.remove(), this.views.delete(id)
    for (const job of shown) {
      let view = this.views.get(job.id)
      if (!view) {
        view = new JobView(this, job.id)
        this.views.set(job.id, view)
        list.append(view.element)
      }
      view.show(job)
    }
    this.bringBack()
    this.drawHint()
  }
}

const uploads = (window[KEPT] ??= new Uploads())

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".leaf-uploads")
  speak(data)
  for (const field of root.querySelectorAll("input[type=file]"))
    field.setAttribute("aria-label", field.dataset.adds === "folder" ? t("Folder to add") : t("Files to add"))
  uploads.mount(root, data, setTriggerValue)
  return () => setTimeout(() => root.isConnected || uploads.unmount(root))
}
