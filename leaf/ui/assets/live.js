// What grows of an answer: it is told over a websocket of its own what changed, puts that into the page, and makes room where the
// page has drawn the same. leaf/ui/live/document.py says what the operations mean, leaf/ui/live/page.py what the page does.

const PROTOCOL = "leaf.live"
const PATH = "/_leaf/live"
const TRIES = 3
const FIRST_WAIT = 250
const LONGEST_WAIT = 8000
const AGAIN = 3000
const SOON = 120
const CODE_BLOCK = 4000
const NOT_ALLOWED = 4401
const HOLDS_WORDS = new Set(["P", "LI", "UL", "OL", "BLOCKQUOTE", "H1", "H2", "H3", "H4", "H5", "H6", "DIV"])

const make = (tag, name, ...children) => {
  const element = document.createElement(tag)
  if (name) element.className = name
  element.append(...children)
  return element
}

const fragment = (html) => {
  const holder = document.createElement("template")
  holder.innerHTML = html
  return holder.content.firstElementChild
}

const icon = (name) => {
  if (name === "spinner") return make("span", "leaf-spinner")
  const shown = make("span", "leaf-icon", name.replace(/^:material\/|:$/g, ""))
  shown.setAttribute("aria-hidden", "true")
  shown.translate = false
  return shown
}

const shimmer = (text) => make("span", "leaf-shimmer", text)

// Kinds of nodes: how each is made, and how its fields are shown.

class Text {
  constructor(view) {
    this.view = view
    this.element = make("div", "leaf-text")
    this.pieces = []
  }

  set() {}

  place(from, pieces) {
    for (const piece of this.pieces.splice(from)) piece.remove()
    for (const [level, html] of pieces) {
      const piece = fragment(html) || make("span")
      if (level && piece.tagName !== "LI" && piece.tagName !== "TR") continue
      const top = level ? this.element.lastElementChild : this.element
      const within = level ? (top.classList.contains("parts") ? top : top.querySelector(".parts")) : top
      within.append(piece)
      this.pieces.push(piece)
    }
  }

  say(words) {
    let place = this.pieces[this.pieces.length - 1]
    if (!place) this.place(0, [[0, "<p></p>"]]), (place = this.pieces[0])
    while (place.lastElementChild && HOLDS_WORDS.has(place.lastElementChild.tagName)) place = place.lastElementChild
    if (place.lastChild?.nodeType === Node.TEXT_NODE) place.lastChild.appendData(words)
    else place.append(words)
  }
}

class Code {
  constructor() {
    this.block = make("div")
    this.code = make("code", "", this.block)
    this.element = make("div", "leaf-code", make("pre", "", this.code))
  }

  set({ language }) {
    if (language) this.code.dataset.language = language
  }

  place() {}

  // In blocks, so that the browser lays out the last one only.
  say(words) {
    for (const piece of words.split(/(?<=\n)/)) {
      const full = this.block.textContent.length > CODE_BLOCK && this.block.textContent.endsWith("\n")
      if (full) this.code.append((this.block = make("div")))
      if (this.block.firstChild) this.block.firstChild.appendData(piece)
      else this.block.append(piece)
    }
  }
}

class Thought {
  constructor() {
    this.body = make("div", "leaf-thought-body")
    this.element = make("details", "leaf-thought", make("summary", "", icon("chevron_right"), t("Thinking")), this.body)
  }

  set() {}
  place() {}
  say(words) {
    if (this.body.firstChild) this.body.firstChild.appendData(words)
    else this.body.append(words.trimStart())
  }
}

class Step {
  constructor(view) {
    this.view = view
    this.element = make("button", "leaf-step")
    this.element.type = "button"
  }

  set({ icon: name, said, working, key }) {
    this.element.replaceChildren(icon(name), working ? shimmer(said) : make("span", "", said))
    this.element.title = working ? t("Look into this step") : ""
    this.element.onclick = () => this.view.tell("open", key)
  }

  place() {}
  say() {}
}

class Chart {
  constructor() {
    this.element = make("div", "leaf-chart", shimmer(t("Drawing the chart …")))
  }

  set() {}
  place() {}
  say() {}
}

class Space extends Chart {
  constructor() {
    super()
    this.element = make("div", "leaf-space")
  }
}

class Writing {
  constructor() {
    this.body = make("div", "leaf-writing-body")
    this.title = make("p")
    this.inside = make("div", "", this.title, this.body)
    this.element = make("div", "leaf-writing st-key-writing-live", this.inside)
  }

  set({ title, over }) {
    this.title.replaceChildren(shimmer(t("Writing “{title}” …", { title })))
    this.element.classList.toggle("st-key-writing-live", !over)
    this.element.hidden = over
    this.body.replaceChildren()
  }

  place() {}
  say() {}
}

const KINDS = { text: Text, code: Code, thought: Thought, step: Step, chart: Chart, space: Space, writing: Writing }

class View {
  constructor(root) {
    this.root = root
    this.body = make("div", "leaf-live-body")
    this.body.setAttribute("role", "log")
    this.body.setAttribute("aria-live", "polite")
    this.tail = make("div", "leaf-tail")
    root.append(this.body, this.tail)
    this.data = {}
    this.told = 0
    this.fails = 0
    this.wait = FIRST_WAIT
    this.standIns = new Map()
    this.observer = new MutationObserver(() => this.makeRoom())
    this.retry = () => document.visibilityState === "visible" && !this.socket && this.ticket && this.connect()
    this.forget()
    this.attach()
  }

  attach() {
    window.addEventListener("online", this.retry)
    document.addEventListener("visibilitychange", this.retry)
  }

  // The page may end an element and begin it anew in the same place: what is shown stays, and the connection is made again.
  revive() {
    this.ended = this.gone = false
    this.attach()
    if (this.ticket && !this.finished) this.connect()
    else this.last = ""
  }

  // From the page

  update(data, setTriggerValue) {
    const another = data.message !== this.data.message
    this.data = data
    this.position = data.position
    this.trigger = setTriggerValue
    if (another) this.leave(), this.forget(), (this.number = -1), (this.finished = false), (this.gone = false)
    this.answer = this.root.closest('[class*="st-key-answer-"]')
    if (data.over) return this.end()
    this.watch()
    if (this.room > this.count()) this.begin() // the page took back what it had drawn
    if (!this.socket && data.ticket !== this.last) {
      this.ticket = this.last = data.ticket
      if (!this.finished) this.connect()
    }
  }

  leave() {
    this.gone = true
    this.observer.disconnect()
    clearTimeout(this.timer)
    clearTimeout(this.asking)
    this.close()
  }

  dispose() {
    this.ended = true
    this.leave()
    window.removeEventListener("online", this.retry)
    document.removeEventListener("visibilitychange", this.retry)
  }

  // The page draws the answer itself from here on.
  end() {
    this.makeRoom()
    this.leave()
    this.root.dataset.over = "1"
    this.forget()
    const place = this.standIns.size ? (this.said() ?? this.answer) : null // not there while the page is drawn anew
    if (place) this.observer.observe(place, { childList: true, subtree: true })
  }

  tell(event, value) {
    this.trigger?.(event, value ?? ++this.told)
  }

  // The connection

  connect() {
    if (this.gone) return
    clearTimeout(this.timer)
    const here = new URL(location.href)
    const address = `${here.protocol === "https:" ? "wss:" : "ws:"}//${here.host}${here.pathname.replace(/\/+$/, "")}${PATH}`
    const seen = this.number >= 0 ? `?epoch=${this.epoch}&seen=${this.number}` : ""
    let opened = false
    let socket
    try {
      socket = new WebSocket(address + seen, [PROTOCOL, this.ticket])
    } catch {
      return this.lost(false, 0)
    }
    this.socket = socket
    this.ticket = ""
    socket.onopen = () => {
      opened = true
      this.fails = 0
      this.wait = FIRST_WAIT
    }
    socket.onmessage = (event) => this.socket === socket && this.take(JSON.parse(event.data))
    socket.onclose = (event) => {
      if (this.socket !== socket) return
      this.socket = null
      this.lost(opened, event.code)
    }
  }

  close() {
    const socket = this.socket
    this.socket = null
    socket?.close()
  }

  lost(opened, code) {
    if (this.gone || this.finished) return
    if (!opened) this.fails += 1
    if (this.fails >= TRIES) this.tell("fallback", "the connection was not let through")
    const wait = this.wait * (0.7 + 0.6 * Math.random())
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT)
    this.timer = setTimeout(() => {
      if (this.ticket && code !== NOT_ALLOWED) this.connect()
      else this.tell("ticket"), (this.timer = setTimeout(() => this.lost(true, NOT_ALLOWED), AGAIN))
    }, wait)
  }

  take(frame) {
    if (frame.ticket) this.ticket = frame.ticket
    if (frame.do && "to" in frame) {
      const another = this.epoch && frame.epoch !== this.epoch // a process took the answer over: the chunks of its run count anew
      if (another) this.position = 0
      if (frame.from === -1) this.forget()
      else if (frame.from !== this.number || frame.epoch !== this.epoch) return this.begin()
      this.epoch = frame.epoch
      for (const operation of frame.do) this.carryOut(operation)
      this.number = frame.to
      this.makeRoom()
      if (frame.drawn > this.position && frame.drawn > this.asked) {
        this.asked = frame.drawn
        this.tell("milestone")
      }
    }
    if (frame.done) this.finish()
  }

  // Something is missing: ask for the whole.
  begin() {
    this.number = -1
    this.close()
    this.lost(true, 0)
  }

  finish() {
    this.finished = true
    this.tail.replaceChildren()
    for (const node of this.nodes.values()) node.element.removeAttribute("aria-busy")
    this.close()
    const ask = () => {
      if (this.gone) return
      this.tell("done")
      this.asking = setTimeout(ask, AGAIN)
    }
    this.asking = setTimeout(ask, SOON) // the page often knows by itself, since the answer was saved
  }

  // What is shown

  forget() {
    this.nodes = new Map()
    this.number = -1
    this.epoch = ""
    this.asked = 0
    this.room = 0
    this.open = null
    this.body.replaceChildren()
    this.tail.replaceChildren()
  }

  carryOut([name, id, ...rest]) {
    if (name === "clear") {
      this.nodes.clear()
      this.open = null
      this.room = 0
      this.body.replaceChildren()
    } else if (name === "tail") this.showTail(id, rest[0])
    else if (name === "+") this.add(id, ...rest)
    else {
      const node = this.nodes.get(id)
      if (!node || node.room) return
      if (name === "=") node.set(rest[0])
      else if (name === "t") node.place(...rest)
      else if (name === "a") node.say(rest[0])
    }
  }

  add(id, parent, after, kind, fields) {
    const node = new (KINDS[kind] ?? Space)(this)
    node.set(fields)
    const within = parent ? this.nodes.get(parent)?.body : this.body
    const before = after ? this.nodes.get(after)?.element : null
    if (before) before.after(node.element)
    else within?.prepend(node.element)
    this.nodes.set(id, node)
    node.element.leafNode = node
    if (!parent) {
      this.open?.element.removeAttribute("aria-busy")
      this.open = node
      node.element.setAttribute("aria-busy", "true")
    }
  }

  showTail(kind, text) {
    if (kind === "waiting") this.tail.replaceChildren(shimmer(t("Working …")))
    else if (kind) this.tail.replaceChildren(icon("hourglass_top"), ` ${text}`)
    else this.tail.replaceChildren()
    this.tail.dataset.kind = kind
  }

  // Element i of the page's own drawing is node i: where it is there, the node goes, in the same frame.

  said() {
    return this.answer?.querySelector(`:scope .st-key-said-${CSS.escape(this.data.message)}`)
  }

  count() {
    return this.said()?.children.length ?? 0
  }

  watch() {
    this.observer.disconnect()
    if (!this.answer) return
    // Taken out of the page already, where it is left while an answer grows.
    const around = this.root.closest('[data-testid="stElementContainer"]')?.parentElement
    if (around) this.observer.observe(around, { childList: true })
    const said = this.said()
    if (said) this.observer.observe(said, { childList: true, subtree: true })
    this.watched = said
  }

  makeRoom() {
    if (this.watched !== this.said() && !this.gone) this.watch()
    const drawn = this.said()?.children ?? []
    const number = Math.min(drawn.length, this.body.children.length)
    for (; this.room < number; this.room++) {
      const node = this.body.children[this.room].leafNode
      const space = make("div", "leaf-space")
      space.leafNode = node
      const element = node.element
      element.replaceWith(space)
      node.element = space // what comes behind it finds its place by it
      node.room = true
      this.standIn(drawn[this.room], element)
    }
    for (const [element, skeleton] of this.standIns) {
      if (skeleton.isConnected) continue
      element.remove()
      this.standIns.delete(element)
    }
  }

  // What the page still loads the code for is shown in its place until that is there.
  standIn(place, element) {
    const skeleton = place.querySelector('[data-testid="stSkeleton"]')
    if (!skeleton || !element.textContent) return
    element.classList.add("leaf-stands-in")
    skeleton.dataset.leafStoodIn = "" // a rule with `:has` for any parent would be asked about all of them with each word
    skeleton.parentElement.append(element)
    this.standIns.set(element, skeleton)
  }
}

const views = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".leaf-live")
  speak(data)
  root.setAttribute("aria-label", t("Answer"))
  let view = views.get(root)
  if (!view) views.set(root, (view = new View(root)))
  else if (view.ended) view.revive()
  view.update(data, setTriggerValue)
  // What Streamlit ends may be an earlier call for an element that stays, and that after a later call for it.
  return () => setTimeout(() => root.isConnected || view.dispose())
}
