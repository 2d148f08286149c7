// A page that loses its server says so in Leaf's words and stays readable. What is typed meanwhile is kept in this tab, also over a
// reload, and asked in the page's own way when it is back: once. leaf/ui/page_head.py puts it into the page, with LANGUAGES.

const GRACE = 700
const SETTLED = 400
const DRAWN = 60_000
const ASKED = 10_000
const KEPT = "leaf-kept-"
const TAKEN = "leaf-kept-taken"

const pause = (time) => new Promise((done) => setTimeout(done, time))
const until = async (is, most, still = 0) => {
  const begun = Date.now()
  let since = begun
  while (Date.now() - begun < most) {
    if (!is()) since = Date.now()
    if (is() && Date.now() - since >= still) return true
    await pause(50)
  }
  return false
}

// What is kept of a chat, or of the one that is not begun yet: questions, what is half written, and what stood in the composer before.

const held = new Map() // for a browser that keeps nothing
const NOTHING = { waiting: [], draft: "", before: "" }
const kept = (chat) => {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT + chat)) ?? { ...NOTHING, waiting: [] }
  } catch {
    return held.get(chat) ?? { ...NOTHING, waiting: [] }
  }
}
const change = (chat, act) => {
  const now = kept(chat)
  act(now)
  const nothing = !now.waiting.length && !now.draft && !now.before
  held.set(chat, now)
  try {
    if (nothing) sessionStorage.removeItem(KEPT + chat)
    else sessionStorage.setItem(KEPT + chat, JSON.stringify(now))
  } catch {}
}
const drop = (chat, id) => change(chat, (now) => (now.waiting = now.waiting.filter((one) => one.id !== id)))
const joined = (...texts) => texts.filter(Boolean).join("\n")

// A tab that was duplicated has the same questions: the first to take one asks it.
const take = (id) => {
  const claim = () => {
    try {
      const taken = JSON.parse(localStorage.getItem(TAKEN)) ?? []
      if (taken.includes(id)) return false
      localStorage.setItem(TAKEN, JSON.stringify([...taken, id].slice(-200)))
    } catch {}
    return true
  }
  return navigator.locks ? navigator.locks.request(TAKEN, claim) : claim()
}

// While it is lost

let was = false
let waits = 0
let panel = null

const make = (tag, given, ...children) => {
  const element = Object.assign(document.createElement(tag), given)
  element.append(...children)
  return element
}

// Streamlit's own dialog of it, known by its title and by having nothing in it that a script drew. It is closed as by a person, since one
// that is only hidden would still hold the focus; closed once, it does not come again before the next loss.
const isOfStreamlit = (dialog) => /^\s*Connection error/.test(dialog.textContent) && !dialog.querySelector('[data-testid="stVerticalBlock"]')
const dismiss = () => {
  for (const dialog of document.querySelectorAll('[data-testid="stDialog"]')) {
    if (dialog.style.visibility || !isOfStreamlit(dialog)) continue
    dialog.style.visibility = "hidden"
    dialog.querySelector('button[aria-label="Close"]')?.click()
  }
}
const dialogs = new MutationObserver(dismiss)

const STYLE = `
.leaf-lost { position: fixed; bottom: 0; z-index: 1000; box-sizing: border-box; background: var(--paper); color: var(--ink); font: 1rem/1.5 var(--face); }
.leaf-lost > div { box-sizing: border-box; max-width: 54.5rem; margin: auto; padding: 0.6rem 1.5rem 1rem; display: grid; gap: 0.5rem; }
@media (max-width: 640px) { .leaf-lost > div { padding-inline: 1rem; } }
.leaf-lost p { margin: 0; padding: 0.5rem 0.8rem; border-radius: 0.5rem; border: 1px solid #c97b12; border-left-width: 5px; font-size: 0.95rem; }
.leaf-lost ul { margin: 0; padding: 0; list-style: none; display: grid; gap: 0.3rem; max-height: 30vh; overflow-y: auto; }
.leaf-lost ul:empty { display: none; }
.leaf-lost li { display: flex; gap: 0.5rem; align-items: center; justify-content: flex-end; }
.leaf-lost li span { min-width: 0; padding: 0.4rem 0.8rem; border-radius: 0.9rem 0.9rem 0.25rem 0.9rem; background: color-mix(in srgb, var(--ink) 10%, transparent);
  white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.leaf-lost form { display: flex; gap: 0.4rem; align-items: flex-end; padding: 0.4rem; border: 1px solid var(--ink); border-radius: 0.75rem; }
.leaf-lost textarea { flex: 1; min-width: 0; min-height: 2rem; max-height: 30vh; field-sizing: content; resize: none; border: 0; outline: 0; padding: 0.3rem 0.5rem;
  background: transparent; color: inherit; font: inherit; }
.leaf-lost form:focus-within { outline: 2px solid #c97b12; }
.leaf-lost button { min-height: 2rem; padding: 0 0.7rem; border-radius: 0.5rem; border: 1px solid currentColor; background: transparent; color: inherit;
  font: inherit; font-size: 0.9rem; cursor: pointer; white-space: nowrap; }
`

class Panel {
  constructor() {
    this.chat = here()
    this.composer = document.querySelector(TEXT)
    this.bar = document.querySelector('[data-testid="stBottom"]')
    this.main = document.querySelector("#stMain")
    speak(LANGUAGES[document.documentElement.lang] ?? LANGUAGES.en)
    this.list = make("ul", {})
    this.inside = make("div", {}, make("p", { role: "alert", textContent: this.told() }))
    if (this.composer) this.inside.append(this.list, this.makeField())
    this.element = make("section", { className: "leaf-lost", ariaLabel: t("Leaf cannot be reached") }, make("style", { textContent: STYLE }), this.inside)
    const { color, backgroundColor, fontFamily } = getComputedStyle(app())
    for (const [name, value] of Object.entries({ ink: color, paper: backgroundColor, face: fontFamily })) this.element.style.setProperty(`--${name}`, value)
    this.sizes = new ResizeObserver(() => this.place())
    this.open()
  }

  told() {
    return this.composer ? t("Leaf cannot be reached. What you type is kept and sent when it is back.") : t("Leaf cannot be reached. This page stays as it is until it is back.")
  }

  open() {
    const taken = document.activeElement
    const wrote = this.bar?.contains(taken) || taken === document.body || !taken
    document.body.append(this.element)
    if (this.bar) this.bar.inert = true
    for (const one of [this.element, this.main]) if (one) this.sizes.observe(one)
    this.draw()
    if (this.composer && wrote && matchMedia("(pointer: fine)").matches) this.field.focus()
  }

  makeField() {
    const before = this.composer.value
    if (before && !kept(this.chat).draft) change(this.chat, (now) => Object.assign(now, { draft: before, before }))
    this.field = make("textarea", { rows: 1, value: kept(this.chat).draft, placeholder: t("Write the next question"), ariaLabel: t("Write the next question") })
    this.field.oninput = () => change(this.chat, (now) => (now.draft = this.field.value))
    this.field.onkeydown = (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
      event.preventDefault()
      this.keep()
    }
    const form = make("form", {}, this.field, make("button", { type: "submit", textContent: t("Send later") }))
    form.onsubmit = (event) => (event.preventDefault(), this.keep())
    return form
  }

  keep() {
    const text = this.field.value.trim()
    if (!text) return
    const id = `${Date.now()}-${Math.random()}`
    change(this.chat, (now) => (now.waiting.push({ id, text }), (now.draft = "")))
    this.field.value = ""
    this.draw()
  }

  async takeBack({ id, text }) {
    await take(id)
    drop(this.chat, id)
    this.field.value = joined(text, this.field.value)
    this.field.oninput()
    this.draw()
    this.field.focus()
  }

  draw() {
    if (!this.field) return
    this.list.replaceChildren(...kept(this.chat).waiting.map((one) => this.row(one)))
    this.list.scrollTop = this.list.scrollHeight
  }

  row(one) {
    const back = make("button", { type: "button", textContent: t("Take back"), onclick: () => this.takeBack(one) })
    return make("li", {}, make("span", { textContent: one.text }), back)
  }

  // Over the page's composer; where it is higher than that, the page ends above it.
  place() {
    const { left, width } = (this.bar ?? this.main ?? document.body).getBoundingClientRect()
    Object.assign(this.element.style, { left: `${left}px`, width: `${width}px`, minHeight: `${this.bar?.offsetHeight ?? 0}px` })
    if (this.main) this.main.style.paddingBottom = `${Math.max(0, this.element.offsetHeight - (this.bar?.offsetHeight ?? 0))}px`
  }

  close() {
    this.wrote = this.element.contains(document.activeElement)
    this.sizes.disconnect()
    this.element.remove()
    if (this.bar) this.bar.inert = false
    if (this.main) this.main.style.paddingBottom = ""
    return this.wrote
  }
}

const lost = () => {
  if (panel || waits) return
  dialogs.observe(document.body, { childList: true, subtree: true })
  dismiss()
  waits = setTimeout(() => {
    waits = 0
    if (!isConnected()) panel = new Panel()
  }, GRACE)
}

// When it is back

let sending = false
let wrote = false

const lastQuestion = () => [...document.querySelectorAll(QUESTIONS)].at(-1)
const keyOf = (question) => [...(question?.classList ?? [])].find((name) => name.startsWith("st-key-question-")) ?? ""

// A question is drawn without blanks and line breaks that stand beside others, and with a mark for what would not be seen.
const plain = (text) => text.replace(/[\s\p{C}\ufffd]+/gu, "")

// Sent before the connection went once more, or the page was loaded anew: the chat says whether it arrived. One that was to begin a chat
// may have begun it elsewhere, so it comes back as a text.
const isOver = (chat, one) => {
  const last = lastQuestion()
  if (chat) return keyOf(last) !== one.last && plain(last?.innerText ?? "").includes(plain(one.text))
  change(chat, (now) => (now.draft = joined(one.text, now.draft)))
  return true
}

const ask = async (chat, one) => {
  const stands = field().value
  change(chat, (now) => {
    if (stands && stands !== now.before) now.draft = joined(now.draft, stands)
    now.before = ""
    Object.assign(now.waiting[0], { sent: true, last: keyOf(lastQuestion()) })
  })
  const last = keyOf(lastQuestion())
  fill(one.text)
  await until(() => document.querySelector(SENDS)?.disabled === false, SETTLED)
  document.querySelector(SENDS)?.click()
  await until(() => !isConnected() || keyOf(lastQuestion()) !== last, ASKED)
  if (!isConnected()) return false
  drop(chat, one.id) // or the page has said why not, with the text in its composer
  if (!chat && (await until(here, ASKED))) moveTo(here())
  return true
}

// What is asked next belongs into the chat that the first question has begun.
const moveTo = (chat) => {
  const { waiting, draft } = kept("")
  change("", (now) => Object.assign(now, { waiting: [], draft: "", before: "" }))
  change(chat, (now) => (now.waiting.push(...waiting), (now.draft = joined(now.draft, draft))))
}

const giveBack = (chat) => {
  const { draft, before } = kept(chat)
  const stands = field().value
  if (stands === before || !stands) fill(draft)
  else if (draft && stands !== draft) fill(joined(stands, draft))
  change(chat, (now) => Object.assign(now, { draft: "", before: "" }))
  if (wrote) field().focus()
  wrote = false
}

const next = async () => {
  const chat = here()
  const found = kept(chat)
  if (!found.waiting.length && !found.draft && !found.before) return false
  if (!(await until(isReady, DRAWN, SETTLED))) return false
  if (here() !== chat) return true
  const one = found.waiting[0]
  if (!one) return giveBack(chat)
  if (one.sent ? isOver(chat, one) : !(await take(one.id))) {
    drop(chat, one.id)
    return true
  }
  return ask(chat, one)
}

const send = async () => {
  if (sending) return
  sending = true
  try {
    while (await next());
  } finally {
    sending = false
  }
}

const back = () => {
  clearTimeout(waits)
  waits = 0
  dialogs.disconnect()
  if (panel) wrote = panel.close()
  panel = null
  send()
}

const look = () => {
  if (isConnected()) (was = true), back()
  else if (was) lost()
}

onStates(look)
look()
