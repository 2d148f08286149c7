// The palette: a field over the page, below it what its words name. Pages and actions are known here; chats, files and prompts the page
// finds (leaf/ui/palette.py), once the palette is open. "?" lists all shortcuts.

const PAUSE = 140
const AGAIN = 1500
const TRIES = 6
const AWAY = 5000 // for as long as another page may take to bring it again
const MAC = /Mac|iPhone|iPad/.test(navigator.platform)
const COMMAND = MAC ? "⌘ K" : "Ctrl K"
const COMPOSER = '[data-testid="stChatInputTextArea"]'
const GROUPS = [
  ["action", mark("Actions")],
  ["page", mark("Pages")],
  ["prompt", mark("Saved prompts")],
  ["project", mark("Projects")],
  ["chat", mark("Chats")],
  ["file", mark("Files")],
]
const FOUND = ["prompt", "project", "chat", "file"]
const SHORTCUTS = [
  [[COMMAND], mark("Search chats, projects, pages, files and prompts, and run a command")],
  [["?"], mark("Show this list, where nothing is being written")],
  [["Enter"], mark("Send the question")],
  [["Shift", "Enter"], mark("A new line in the question")],
  [["Esc"], mark("Stop the answer that is being written; close what lies over the page")],
  [["↑", "↓"], mark("Go through a list")],
  [["Tab"], mark("Go to the next control")],
]

const find = (selector) => [...document.querySelectorAll(selector)].find((one) => one.checkVisibility?.() ?? true)
const composer = () => find(COMPOSER)
const typing = (target) =>
  target instanceof Element && (target.closest("input, textarea, select, [contenteditable]:not([contenteditable='false'])") !== null)
const make = (tag, className, text = "") => {
  const made = document.createElement(tag)
  if (className) made.className = className
  made.textContent = text
  return made
}
const iconOf = (name) => {
  const made = make("span", "leaf-icon", name)
  made.setAttribute("aria-hidden", "true")
  made.translate = false
  return made
}
const keysOf = (keys) => {
  const made = make("span")
  keys.forEach((key, at) => made.append(...(at ? [" "] : []), make("kbd", "", key)))
  return made
}

class Palette {
  constructor(root, language) {
    this.root = root
    this.language = language
    this.data = { pages: [], items: [], number: 0 }
    this.number = this.last = this.at = 0
    this.options = []
    this.only = ""
    this.build()
    const heard = { keydown: (event) => this.pressed(event), "leaf-palette": (event) => this.open(event.detail?.only, event.detail?.typed) }
    for (const [name, act] of Object.entries(heard)) window.addEventListener(name, act, true)
    this.dispose = () => {
      clearTimeout(this.waiting)
      for (const [name, act] of Object.entries(heard)) window.removeEventListener(name, act, true)
    }
  }

  build() {
    this.opener = make("button", "leaf-palette-open")
    this.opener.type = "button"
    this.opener.setAttribute("aria-label", t("Search and commands"))
    this.opener.title = `${t("Search and commands")} (${COMMAND})`
    this.opener.setAttribute("aria-haspopup", "dialog")
    this.opener.append(iconOf("search"))
    this.opener.onclick = () => this.open()
    this.dialog = make("dialog", "leaf-palette")
    this.dialog.setAttribute("aria-label", t("Search and commands"))
    const head = make("div", "leaf-palette-head")
    this.field = make("input")
    const given = { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "leaf-palette-list", "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false" }
    for (const [name, value] of Object.entries(given)) this.field.setAttribute(name, value)
    this.field.oninput = () => this.wrote()
    const close = make("button")
    close.type = "button"
    close.setAttribute("aria-label", t("Close"))
    close.append(iconOf("close"))
    close.onclick = () => this.close()
    head.append(iconOf("search"), this.field, close)
    this.list = make("div", "leaf-palette-list")
    this.list.id = "leaf-palette-list"
    this.list.setAttribute("role", "listbox")
    this.list.setAttribute("aria-label", t("Found"))
    this.none = make("p", "leaf-palette-none")
    this.heard = make("div", "leaf-palette-heard")
    this.heard.setAttribute("role", "status")
    const foot = make("div", "leaf-palette-foot")
    for (const [keys, what] of [[["↑", "↓"], t("choose")], [["Enter"], t("open")], [["Esc"], t("close")], [["?"], t("all shortcuts, on the page")]]) {
      const hint = keysOf(keys)
      hint.append(` ${what}`)
      foot.append(hint)
    }
    this.dialog.append(head, this.list, this.none, this.heard, foot)
    this.dialog.onclick = (event) => event.target === this.dialog && this.close()
    this.shortcuts = this.listed()
    this.root.replaceChildren(this.opener, this.dialog, this.shortcuts)
  }

  // Streamlit draws every element anew with another page: what is open and half typed goes along.
  moveTo(root) {
    const open = [this.dialog, this.shortcuts].find((one) => one.open)
    const { selectionStart: start, selectionEnd: end } = this.field
    this.root = root
    root.replaceChildren(this.opener, this.dialog, this.shortcuts)
    if (!open) return
    open.close() // out of the page it lay over nothing any more, and was open all the same
    open.showModal()
    if (open !== this.dialog) return
    this.field.focus()
    this.field.setSelectionRange(start, end)
  }

  listed() {
    const made = make("dialog", "leaf-shortcuts")
    made.setAttribute("aria-labelledby", "leaf-shortcuts-name")
    const head = make("header")
    const name = make("h2", "", t("Keyboard shortcuts"))
    name.id = "leaf-shortcuts-name"
    const close = make("button", "", t("Close"))
    close.type = "button"
    close.onclick = () => made.close()
    head.append(name, close)
    const all = make("dl")
    for (const [keys, what] of SHORTCUTS) {
      const key = make("dt")
      key.append(keysOf(keys))
      all.append(key, make("dd", "", t(what)))
    }
    made.append(head, all)
    made.onclick = (event) => event.target === made && made.close()
    return made
  }

  // What was found comes later than the lines that are known here: the line that is chosen stays chosen, wherever it stands now.
  update(data, trigger) {
    this.trigger = trigger
    this.data = data
    if (!this.dialog.open) return
    const chosen = this.options[this.at]
    this.show()
    const now = this.options.findIndex((one) => chosen && one.kind === chosen.kind && one.id === chosen.id)
    if (now < 0 || now === this.at) return
    this.at = now
    this.mark()
  }

  // Keys

  pressed(event) {
    const command = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k"
    const takes = () => {
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    if (event.isComposing) return
    if (command && !this.dialog.open && !this.root.isConnected) return // early.js opens it once it is back
    if (command) {
      takes()
      if (event.repeat) return
      return this.dialog.open ? this.close() : this.open()
    }
    const over = this.dialog.open ? this.dialog : this.shortcuts.open ? this.shortcuts : null
    if (over && event.key === "Escape") {
      takes()
      return over === this.dialog ? this.close() : over.close()
    }
    if (this.dialog.open) return this.move(event, takes)
    const free = this.root.isConnected && !over && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(event.target)
    if (free && event.key === "?" && !document.querySelector('[role="dialog"]')) {
      takes()
      this.shortcuts.showModal()
    }
  }

  move(event, takes) {
    const steps = { ArrowDown: 1, ArrowUp: -1 }
    if (event.key in steps && this.options.length) {
      takes()
      this.at = (this.at + steps[event.key] + this.options.length) % this.options.length
      this.mark()
    } else if (event.key === "Enter" && event.target === this.field) {
      takes()
      this.choose(this.options[this.at])
    } else {
      event.stopImmediatePropagation() // the page's own shortcuts wait
      if (!this.root.isConnected) this.write(event)
    }
  }

  // What is typed while Streamlit has the field out of the page goes into it all the same.
  write(event) {
    const commands = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph")
    if (event.key.length > 1 || commands) return
    event.preventDefault()
    this.field.setRangeText(event.key, this.field.selectionStart, this.field.selectionEnd, "end")
    this.wrote()
  }

  // Open and close

  open(only = "", typed = "") {
    if (this.dialog.open || !this.root.isConnected) return // out of the page there is nothing to lie over
    this.shortcuts.close()
    this.only = only
    this.field.value = typed
    this.field.placeholder = only ? t("Search prompts") : t("Search or run a command")
    this.field.setAttribute("aria-label", this.field.placeholder)
    this.at = 0
    this.dialog.showModal()
    this.field.focus()
    this.ask()
    this.show()
  }

  close() {
    clearTimeout(this.waiting)
    this.dialog.close()
  }

  wrote() {
    this.at = 0
    this.number = this.next() // what is found for earlier words is not what these name
    clearTimeout(this.waiting)
    this.waiting = setTimeout(() => this.ask(), PAUSE)
    this.show()
  }

  ask() {
    const number = this.next()
    this.number = number
    const given = { number, text: this.field.value, only: this.only }
    this.send("asked", given, () => this.data.number === number || this.number !== number || !this.dialog.open)
  }

  next() {
    return (this.last = Math.max(Date.now(), this.last + 1))
  }

  // Streamlit drops what comes while the page is drawn anew: it is said again until it was heard.
  send(name, given, heard, tries = TRIES) {
    this.trigger?.(name, given)
    setTimeout(() => !heard() && tries && this.send(name, given, heard, tries - 1), AGAIN)
  }

  // What is listed

  actions() {
    const written = composer()?.value.trim() ?? ""
    const stop = find('[class*="st-key-stop-"] button')
    const attach = find(".st-key-attach button")
    const save = written && { id: "save", name: t("Save what is written as a prompt"), icon: "bookmark_add", text: written }
    if (this.only) return [save, { id: "save", name: t("New prompt"), icon: "add", text: "" }].filter(Boolean)
    return [
      stop && { id: "stop", name: t("Stop the answer"), icon: "stop_circle", keys: ["Esc"], act: () => stop.click() },
      { id: "new", name: t("New chat"), icon: "edit_square" },
      attach && { id: "attach", name: t("Attach files"), icon: "attach_file", act: () => attach.click() },
      save,
      this.data.chat && { id: "export", name: t("Export this chat"), icon: "download" },
      this.data.chat && { id: "rename", name: t("Rename this chat"), icon: "edit" },
      { id: "shortcuts", name: t("Keyboard shortcuts"), icon: "keyboard", keys: ["?"], act: () => this.shortcuts.showModal() },
    ].filter(Boolean)
  }

  get words() {
    return this.field.value.toLowerCase().split(/\s+/).filter(Boolean)
  }

  // Pages stand before actions where words of their names begin like what was typed, and of no action: "board" is in "keyboard" too.
  groups(found) {
    if (!this.words.length) return GROUPS.map(([kind]) => kind)
    const begins = (one) => this.words.every((word) => ` ${one.name.toLowerCase()}`.includes(` ${word}`))
    const pages = found.page.some(begins) && !found.action.some(begins)
    return [...FOUND, ...(pages ? ["page", "action"] : ["action", "page"])]
  }

  found() {
    const words = this.words
    const named = (one) => words.every((word) => one.name.toLowerCase().includes(word))
    const pages = this.only ? [{ id: "settings", name: t("All saved prompts, in Settings"), icon: "tune" }] : this.data.pages
    const fresh = this.data.number === this.number || !words.length
    const here = fresh ? this.data.items : this.data.items.filter(named)
    const items = here.filter((one) => !this.only || one.kind === "prompt")
    return {
      action: this.actions().filter(named).map((one) => ({ kind: "action", ...one })),
      page: pages.filter(named).map((one) => ({ kind: "page", ...one })),
      ...Object.fromEntries(FOUND.map((kind) => [kind, items.filter((one) => one.kind === kind)])),
    }
  }

  show() {
    const found = this.found()
    const order = this.only ? [...FOUND, "action", "page"] : this.groups(found)
    this.options = []
    const groups = order.map((kind) => this.group(kind, found[kind] ?? []))
    this.list.replaceChildren(...groups.filter(Boolean))
    this.at = Math.min(this.at, Math.max(0, this.options.length - 1))
    const looking = this.data.number !== this.number
    this.none.hidden = this.options.length > 0
    this.none.textContent = looking ? t("Looking …") : t("Nothing has these words.")
    this.field.setAttribute("aria-expanded", String(this.options.length > 0))
    if (!looking) this.heard.textContent = n_("{n} found", "{n} found", this.options.length)
    this.mark()
  }

  group(kind, items) {
    if (!items.length) return null
    const made = make("div")
    made.setAttribute("role", "group")
    const name = make("div", "leaf-palette-group", t(GROUPS.find(([one]) => one === kind)[1]))
    name.id = `leaf-palette-group-${kind}`
    name.setAttribute("role", "presentation")
    made.setAttribute("aria-labelledby", name.id)
    made.append(name, ...items.map((item) => this.option(item)))
    return made
  }

  option(item) {
    const made = make("div", "leaf-palette-option")
    const number = this.options.length
    made.id = `leaf-palette-option-${number}`
    made.setAttribute("role", "option")
    made.append(iconOf(item.icon), make("span", "leaf-palette-name", item.name), make("span", "leaf-palette-detail", item.detail ?? ""))
    if (item.keys) made.append(keysOf(item.keys))
    made.onmousemove = () => {
      if (this.at === number) return
      this.at = number
      this.mark()
    }
    made.onclick = () => this.choose(item)
    this.options.push(item)
    return made
  }

  mark() {
    for (const [number, one] of [...this.list.querySelectorAll('[role="option"]')].entries()) {
      one.setAttribute("aria-selected", String(number === this.at))
      if (number !== this.at) continue
      one.scrollIntoView({ block: "nearest" })
      this.field.setAttribute("aria-activedescendant", one.id)
    }
    if (!this.options.length) this.field.removeAttribute("aria-activedescendant")
  }

  choose(item) {
    if (!item) return
    this.close()
    if (item.act) return item.act()
    const number = this.next()
    const given = { number, kind: item.kind, id: item.id, text: item.text ?? "", composer: Boolean(composer()) }
    this.send("chosen", given, () => (this.data.done ?? 0) >= number)
  }
}

let palette = null

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".leaf-palette-root")
  if (palette && palette.root !== root && palette.language === data.language) palette.moveTo(root)
  if (palette?.root !== root) {
    palette?.dispose()
    speak(data)
    palette = new Palette(root, data.language)
  }
  palette.update(data, setTriggerValue)
  window.dispatchEvent(new CustomEvent("leaf-palette-here"))
  const mine = palette
  // What Streamlit ends may be an earlier call for an element that stays, and that after a later call for it; and with another page
  // the palette comes again at once.
  const end = () => {
    if (mine.root.isConnected) return
    mine.dispose()
    if (palette === mine) palette = null
  }
  return () => setTimeout(end, AWAY)
}
