"""Leaf beside a Google on loopback with demo files: `make demo-drive`. Data goes to `.leaf-demo`,
away from the real one."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.drive_server import CLIENT_ID, CLIENT_SECRET, DriveServer, fill


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8501, help="port of the app")
    parser.add_argument("--google-port", type=int, default=0, help="port of the Google beside it")
    given = parser.parse_args()
    google = DriveServer(given.google_port)
    fill(google)
    environment = {
        "LEAF_HOME": str(Path(".leaf-demo").resolve()),
        "LEAF_GOOGLE_CLIENT_ID": CLIENT_ID,
        "LEAF_GOOGLE_CLIENT_SECRET": CLIENT_SECRET,
        "LEAF_GOOGLE_API_URL": f"{google.url}/drive/v3/",
        "LEAF_GOOGLE_AUTH_URL": f"{google.url}/o/oauth2/auth",
        "LEAF_GOOGLE_TOKEN_URL": f"{google.url}/token",
        "LEAF_GOOGLE_REVOKE_URL": f"{google.url}/revoke",
        "OAUTHLIB_INSECURE_TRANSPORT": "1",
    }
    with google:
        print(
            f"Google on {google.url}; connect it on the settings page as {google.accounts[0]}.",
            flush=True,
        )
        served = ["--server.address", "127.0.0.1", "--server.port", str(given.port)]
        command = [sys.executable, "-m", "streamlit", "run", "app.py", *served]
        app = subprocess.Popen(command, env={**os.environ, **environment})
        signal.signal(
            signal.SIGTERM, lambda *_: app.terminate()
        )  # the app must not outlive its Google
        try:
            return app.wait()
        except KeyboardInterrupt:
            return app.wait()


if __name__ == "__main__":
    sys.exit(main())
