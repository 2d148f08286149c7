// The list of files as it is drawn: one job is a line, and behind it a row for each file. Goes before uploads.js.

const make = (tag, className, ...children) => {
  const element = document.createElement(tag)
  if (className) element.className = className
  element.append(...children)
  return element
}

const press = (label, title, act) => {
  const button = make("button", "leaf-press", label)
  button.type = "button"
  if (title) button.setAttribute("aria-label", title), (button.title = title)
  button.onclick = act
  return button
}

const set = (element, text) => element.textContent === text || (element.textContent = text)
const fileCount = (number) => n_("{n} file", "{n} files", number)
const percent = (share) => `${Math.floor(100 * Math.min(1, share))} %`
const size = (bytes) => {
  if (bytes < 1000) return `${bytes} B`
  const power = bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3
  const value = bytes / 1000 ** power
  return `${inDigits(value, value < 10 ? 1 : 0)} ${["", "kB", "MB", "GB"][power]}`
}

class JobView {
  constructor(uploads, id) {
    this.uploads = uploads
    this.id = id
    this.rows = new Map()
    this.toggle = make("button", "leaf-job-toggle", make("span", "leaf-icon", "chevron_right"), make("span", "leaf-job-line"))
    this.toggle.type = "button"
    this.toggle.firstChild.setAttribute("aria-hidden", "true")
    this.toggle.firstChild.translate = false
    this.toggle.onclick = () => {
      uploads.opened.set(id, !this.open)
      uploads.drawNow()
    }
    this.bar = make("progress")
    this.bar.max = 1
    this.bar.setAttribute("aria-label", t("All files"))
    this.acts = make("span", "leaf-job-acts")
    this.list = make("ul", "leaf-job-rows")
    this.problem = make("p", "leaf-job-problem")
    this.element = make("section", "leaf-job", make("div", "leaf-job-head", this.toggle, this.bar, this.acts), this.problem, this.list)
    this.element.setAttribute("aria-label", t("Files on their way"))
  }

  show(job) {
    const rows = this.uploads.rows(job)
    const { opened } = this.uploads
    this.open = opened.get(this.id) ?? (job.here && job.total <= OPEN_UP_TO)
    set(this.toggle.lastChild, this.uploads.line(job))
    this.toggle.setAttribute("aria-expanded", String(this.open))
    this.bar.value = this.uploads.far(job, rows)
    this.bar.hidden = job.over
    set(this.problem, job.problem || job.note || "")
    this.problem.hidden = !this.problem.textContent || (this.open && Boolean(job.note) && rows.some((row) => row.state === "reading"))
    this.list.hidden = !this.open
    this.drawActs(job)
    if (this.open) this.drawRows(job, rows)
  }

  drawActs(job) {
    const { uploads } = this
    const left = job.done + job.coming < job.total || (job.chat && job.problem) // all are here, and not beside the question
    const kind = !job.over ? "cancel" : left ? "left" : job.chat || job.done === job.failed + job.cancelled ? "close" : "ask"
    if (this.kind === kind) return
    this.kind = kind
    const close = () => {
      for (const one of [...uploads.local.values()]) if (one.job === this.id) uploads.forgetLocal(one.key)
      uploads.close(this.id)
    }
    const stop = async () => {
      for (const one of [...uploads.local.values()]) if (one.job === this.id) uploads.forgetLocal(one.key)
      await uploads.call("DELETE", `/${this.id}`)
      uploads.look()
    }
    const goOn = async () => {
      await uploads.call("POST", `/${this.id}/go-on`)
      uploads.look()
    }
    const acts = []
    if (kind === "cancel") acts.push(press(t("Cancel all"), t("Cancel all that is not ready yet"), stop))
    if (kind === "left") acts.push(press(t("Go on"), t("Go on with what is left"), goOn))
    if (kind === "ask" && uploads.data.here === "files") acts.push(press(t("Ask about them"), "", () => uploads.tell("ask", this.id)))
    if (kind !== "cancel") acts.push(press("✕", t("Close this list"), close))
    this.acts.replaceChildren(...acts)
  }

  drawRows(job, rows) {
    let before = null
    for (const row of rows) {
      let view = this.rows.get(row.n)
      if (!view) {
        view = new RowView(this.uploads, this.id, row.n)
        this.rows.set(row.n, view)
      }
      // moved only where it stands elsewhere: a move takes the focus from its buttons
      const place = before ? before.nextSibling : this.list.firstChild
      if (place !== view.element) this.list.insertBefore(view.element, place)
      before = view.element
      view.show(row)
    }
    const kept = new Set(rows.map((row) => row.n))
    for (const [n, view] of this.rows) if (!kept.has(n)) view.element.remove(), this.rows.delete(n)
    this.more ??= make("li", "leaf-row-more")
    const more = job.total - rows.length
    if (more > 0) set(this.more, t("and {n} more", { n: inDigits(more) })), this.list.append(this.more)
    else this.more.remove()
  }
}

class RowView {
  constructor(uploads, job, number) {
    this.uploads = uploads
    this.path = `/${job}/${number}`
    this.key = `${job}/${number}`
    this.name = make("bdi", "leaf-row-name")
    this.size = make("span", "leaf-row-size")
    this.state = make("span", "leaf-row-state")
    this.bar = make("progress")
    this.bar.max = 1
    this.acts = make("span", "leaf-row-acts")
    this.said = make("p", "leaf-row-said")
    this.element = make("li", "leaf-row", make("span", "leaf-row-head", this.name, this.size), this.bar, this.state, this.acts, this.said)
  }

  show(row) {
    this.element.dataset.state = row.state
    set(this.name, row.name)
    this.name.title = row.name
    set(this.size, row.size ? size(row.size) : "")
    set(this.state, this.uploads.words(row))
    const moves = ["sending", "looking", "reading"].includes(row.state)
    this.bar.hidden = !moves
    if (row.share >= 0) this.bar.value = row.share
    else this.bar.removeAttribute("value")
    this.bar.setAttribute("aria-label", `${row.name}: ${this.uploads.words(row)}`)
    const told = row.state === "reading" ? "" : row.said || (row.state === "failed" && !row.one && row.sendable ? t("Choose it again to add it.") : "")
    set(this.said, told)
    this.said.hidden = !told
    this.drawActs(row)
  }

  drawActs(row) {
    const again = row.state === "failed" && (row.one || row.again)
    const cancels = row.open || row.state === "reading"
    const removes = row.state === "failed" || row.state === "unreadable"
    const kind = `${again ? "again " : ""}${cancels ? "cancel" : removes ? "remove" : ""}${row.one ? " local" : ""}`
    if (this.kind === kind) return
    this.kind = kind
    const acts = []
    if (again) acts.push(press(t("Retry"), t("Try {name} again", row), () => this.again()))
    if (cancels) acts.push(press(t("Cancel"), t("Cancel {name}", row), () => this.cancel()))
    if (removes) acts.push(press(t("Remove"), t("Remove {name}", row), () => this.cancel()))
    this.acts.replaceChildren(...acts)
  }

  async again() {
    const one = this.uploads.local.get(this.key)
    if (one) {
      one.tries = 0
      one.line = false
      return this.uploads.enqueue(one)
    }
    await this.uploads.call("POST", `${this.path}/again`)
    this.uploads.look()
  }

  async cancel() {
    this.uploads.forgetLocal(this.key)
    const gone = await this.uploads.call("DELETE", this.path)
    if (!gone.ok) this.uploads.say(gone.error)
    this.uploads.look()
  }
}

// How far files are, in figures and words; `local` is what this tab sends.

class Figures {
  most = new Map() // of each job that is not over: how far its line has been

  // Those that failed first, as the server sends them; also those that only this tab knows of.
  rows(job) {
    const found = job.items.map((item) => {
      const one = this.local.get(`${job.id}/${item.n}`)
      const row = { ...item, one, job }
      if (one && (item.state === "waiting" || item.state === "sending" || item.state === "failed")) {
        row.state = one.state
        row.share = one.file.size ? one.sent / one.file.size : 1
        row.said = one.problem
      }
      row.open = ["waiting", "sending", "looking"].includes(row.state)
      return row
    })
    const late = (row) => Number(!["failed", "unreadable"].includes(row.state))
    return found.sort((one, other) => late(one) - late(other))
  }

  words(row) {
    const far = row.share >= 0 ? ` ${percent(row.share)}` : ""
    const words = {
      waiting: t("waiting"),
      sending: row.share >= 1 ? t("sent, is being kept") : `${t("sending")}${far}`,
      looking: t("looking at it"),
      left: t("not looked at"),
      reading: `${t("reading")}${far}`,
      ready: t("ready"),
      failed: t("failed"),
      unreadable: t("cannot be read"),
      cancelled: t("cancelled"),
    }[row.state]
    return row.state === "reading" && row.said ? `${words}: ${row.said}` : words
  }

  // How far a job is, from 0 to 1: sending is one half, reading the other. It never falls.
  far(job, rows) {
    if (job.over) this.most.delete(job.id)
    const share = Math.max(this.most.get(job.id) ?? 0, this.share(job, rows))
    if (!job.over) this.most.set(job.id, share)
    return share
  }

  share(job, rows) {
    const large = 1e6 // it is ready for a moment before it is read ahead
    const parts = {
      waiting: () => 0,
      sending: (row) => row.share / 2,
      looking: () => 0.5,
      reading: (row) => 0.5 + Math.max(0, row.share) / 2,
      ready: (row) => (row.size > large ? 0.5 : 1),
    }
    const wanted = rows.filter((row) => row.state !== "cancelled")
    if (rows.length < job.total) return (job.done + job.total - job.coming) / (2 * Math.max(1, job.total))
    const weight = (row) => (row.size || 0) + 1000
    const all = wanted.reduce((sum, row) => sum + weight(row), 0)
    const part = (row) => parts[row.state]?.(row) ?? 1
    return all ? wanted.reduce((sum, row) => sum + weight(row) * part(row), 0) / all : 1
  }

  line(job) {
    const rows = this.rows(job)
    const away = rows.filter((row) => row.one && row.state === "failed" && !["failed", "unreadable"].includes(job.items.find((i) => i.n === row.n).state)).length
    const failed = job.failed + away
    const total = job.total - job.cancelled
    const ready = Math.max(0, job.done - job.failed - job.cancelled)
    if (!total) return t("Cancelled.")
    const pieces = [t("{ready} of {files} ready", { ready: inDigits(ready), files: fileCount(total) })]
    if (failed) pieces.push(t("{n} failed", { n: inDigits(failed) }))
    if (job.cancelled) pieces.push(t("{n} cancelled", { n: inDigits(job.cancelled) }))
    if (!job.over && total) pieces.push(percent(this.far(job, rows)))
    if (!job.here) pieces.push(job.chat ? t("for another chat") : t("for your files"))
    return pieces.join(" · ")
  }
}
