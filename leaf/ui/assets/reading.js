// Where one reads: what grows, comes above or is drawn anew never moves it. Streamlit's own following of the end is not used (the
// composer stands inside `st.bottom`): it pulls back whoever scrolls while it glides. leaf/ui/reading.py says what the page tells,
// reading_kept.js, which stands before it, has what is kept of it.

const PARTS = '[class*="st-key-question-"], [class*="st-key-answer-"]'
const PIECES = '[data-testid="stElementContainer"], .leaf-live-body > *'
const NEAR = 80
const ABOVE = 12
const BY_HAND = 1000
const COMES = 10_000
const SENDS = 1500
const REPEATED = 2000
const ANEW = 500
const QUIET = 300

const UPWARD = new Set(["ArrowUp", "PageUp", "Home"])
const SAID = '[class*="st-key-said-"]'
const KEYS = new Set([...UPWARD, "ArrowDown", "PageDown", "End", " ", "Tab"])

// One of: at the end, which is followed; at one's own question, with the answer growing below it; or anywhere else.
const END = "end"
const QUESTION = "question"
const PLACE = "place"

const keyOf = (part) => [...part.classList].find((name) => /^st-key-(question|answer)-/.test(name))
// Pieces of an answer by number: what the page has drawn of it, then what still grows.
const piecesOf = (part) => {
  const drawn = [...(part.querySelector(SAID)?.children ?? [])]
  return [...drawn, ...[...(part.querySelector(".leaf-live-body")?.children ?? [])].slice(drawn.length)]
}
const lastQuestion = (main) => keyOf([...main.querySelectorAll('[class*="st-key-question-"]')].at(-1) ?? main)
const isIdle = () => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning"
const typing = (target) => target instanceof Element && target.closest("input, textarea, [contenteditable]")

class Reading {
  constructor(main, pill, echo) {
    this.main = main
    this.pill = pill
    this.echo = echo
    this.data = {}
    this.mode = END
    this.acted = this.touched = -Infinity
    this.expected = null
    this.sizes = new ResizeObserver(() => (this.moves(), this.settle()))
    this.drawn = new MutationObserver(() => (this.moves(), this.look()))
    this.pieces = new MutationObserver(() => (this.moves(), this.settle()))
    this.moves()
    this.listen()
    pill.onclick = () => this.toEnd()
    this.look()
  }

  listen() {
    const events = {
      wheel: (event) => event.deltaY && this.act(event.deltaY < 0),
      touchmove: () => (this.touched = performance.now()),
      pointerdown: (event) => this.press(event),
      scroll: (event) => event.target === this.main && this.scrolled(),
    }
    this.stops = Object.entries(events).map(([name, act]) => {
      this.main.addEventListener(name, act, { passive: true, capture: true })
      return () => this.main.removeEventListener(name, act, { capture: true })
    })
    const pressed = (event) => KEYS.has(event.key) && (event.key === "Tab" || !typing(event.target)) && this.act(UPWARD.has(event.key))
    window.addEventListener("keydown", pressed, { passive: true, capture: true })
    this.stops.push(() => window.removeEventListener("keydown", pressed, { capture: true }))
    const sent = (event) => this.repeat(event.detail)
    window.addEventListener("leaf-sent", sent)
    this.stops.push(() => window.removeEventListener("leaf-sent", sent))
  }

  // The page made the element anew: the reader notices nothing. Later it is another visit, of the same page.
  takeOver(before) {
    this.data = before.data
    if (before.main !== this.main || (before.ended && performance.now() - before.ended > ANEW)) {
      this.data = { ...before.data, chat: "" }
      return
    }
    const { mode, question, until, marks, anchor, reads, news, newest, acted, touched } = before
    Object.assign(this, { mode, question, until, marks, anchor, reads, news, newest, acted, touched, before: this.top })
    this.room = before.ended ? 0 : before.room
  }

  dispose() {
    this.ended = performance.now()
    this.sizes.disconnect()
    this.drawn.disconnect()
    this.hush()
    this.letGo()
    for (const stop of this.stops) stop()
    if (reading !== this) return
    for (const room of ["--leaf-room", "--leaf-room-above"]) this.main.style.removeProperty(room)
  }

  // From the page

  update(data) {
    const before = this.data
    this.data = data
    if (data.asked && data.asked !== before.asked) {
      this.mode = QUESTION
      this.question = CSS.escape(data.question)
      this.until = performance.now() + COMES
    } else if (data.target && (data.target !== before.target || data.chat !== before.chat) && !this.returns(data)) {
      this.mode = QUESTION
      this.question = CSS.escape(data.target)
      this.until = performance.now() + COMES
      this.marks = true
    } else if (data.chat !== before.chat) {
      this.mode = END
      this.question = ""
    } else return this.remember()
    this.anchor = this.reads = null
    this.letGo()
    this.moves()
    this.recall()
    this.main.style.removeProperty("--leaf-room-above")
    this.news = false
    this.newest = ""
    this.settle()
  }

  // Back or forward to a link that was followed before.
  returns({ chat, target }) {
    return performance.now() - popped < COMES && placeIn(chat)?.target === target
  }

  // Whoever comes back to a chat goes on where they read, unless there is something newer or they were led elsewhere.
  recall() {
    const { chat, newest } = this.data
    const place = this.mode === END && chat ? placeIn(chat) : null
    this.recalled = Boolean(place && place.newest === newest)
    if (!this.recalled) return putPlace(chat, null)
    this.mode = PLACE
    this.anchor = place
  }

  // Only while the address is still that of the chat: what is drawn next may stand there already.
  remember() {
    const { chat, newest, target } = this.data
    if (this.recalled || !chat || !isHere(chat)) return
    const place = this.mode === PLACE ? this.anchor : this.mode === QUESTION && this.below() > NEAR ? this.mark() : null
    if (this.mode === PLACE && !place) return
    const { key, part, number, at, head } = place ?? {}
    putPlace(chat, place && { key, part, number, at, head, newest, target })
  }

  // What was typed and sent stands above the composer at once, until the page draws it or gives it back.

  repeat(text) {
    this.echo.firstChild.textContent = text.trim().slice(0, REPEATED)
    const { right } = this.block.getBoundingClientRect()
    this.echo.style.right = `${document.documentElement.clientWidth - right + parseFloat(getComputedStyle(this.block).paddingRight)}px`
    this.echo.style.bottom = `${innerHeight - this.floor + ABOVE}px`
    this.echo.hidden = false
    this.repeats = { before: lastQuestion(this.main), at: performance.now() }
    this.show()
    this.repeated()
  }

  repeated() {
    cancelAnimationFrame(this.repeating)
    if (this.echo.hidden) return
    this.repeating = requestAnimationFrame(() => this.repeated()) // never painted beside what it stands for
    const past = performance.now() - this.repeats.at
    const idle = isIdle()
    this.repeats.heard ||= !idle
    // Until the server has begun it is on its way, however slow that is; what the composer still holds was never sent.
    const back = idle && past > SENDS && (this.repeats.heard || this.bar?.querySelector("textarea")?.value)
    if (lastQuestion(this.main) !== this.repeats.before || past > COMES || back) this.hush()
  }

  hush() {
    this.echo.hidden = true
    this.echo.firstChild.textContent = "" // what is drawn next may be another chat, for somebody who may not see this one
  }

  // What the reader does

  act(upward) {
    this.acted = performance.now()
    if (upward && this.mode === END && this.top > 0) this.stay()
  }

  byHand() {
    const now = performance.now()
    return now - this.acted < BY_HAND || now - this.touched < 2 * BY_HAND
  }

  // Whoever presses something wants to see what comes of it in that place.
  press(event) {
    const inside = event.target instanceof Element && event.target.closest('[data-testid="stMainBlockContainer"]')
    if (inside || event.target === this.main) this.acted = performance.now() // the scroll bar is part of it; the composer is not
    if (inside) this.stay(event.target.closest(PIECES))
  }

  scrolled() {
    const top = this.top
    const upward = top < this.before
    this.before = top
    if (this.expected !== null && Math.abs(top - this.expected) <= 1) {
      this.expected = null
      return this.show()
    }
    this.expected = null
    if (this.main.scrollHeight !== this.height) this.moves() // and its observers are told later, on a busy machine much later
    const still = performance.now() - this.changed > QUIET && !this.awaits
    if (upward && this.top >= this.most - 1) this.settle() // what is drawn became shorter: who goes up leaves the end
    else if (still || this.byHand()) {
      // By hand it goes on of itself, or the scroll bar is held; where nothing was drawn it is the browser's search, or what reads aloud.
      if (this.byHand()) this.acted = performance.now()
      if (this.below() <= NEAR && !upward) this.follow()
      else this.stay()
    } else this.settle()
    this.show()
  }

  follow() {
    this.mode = END
    this.news = this.recalled = false
    this.remember()
  }

  toEnd() {
    this.acted = this.touched = -Infinity // what moves from here on moves by itself
    this.follow()
    this.settle()
  }

  stay(piece) {
    this.mode = PLACE
    this.anchor = this.mark(piece)
    this.recalled = false
    this.remember()
  }

  // Something was drawn, or is.
  moves() {
    this.changed = performance.now()
  }

  // The part that is read, and the piece of it at the window's top: a piece that is drawn anew is found by its part.
  mark(pressed) {
    const edge = this.edge
    const piece = pressed?.closest(PARTS) ? pressed : null
    const seen = (element) => element.getBoundingClientRect().bottom > edge
    const part = piece?.closest(PARTS) ?? [...this.main.querySelectorAll(PARTS)].find(seen)
    if (!part) return null
    const inner = piece ?? [...part.querySelectorAll(PIECES)].find(seen) ?? part
    const at = (element) => element.getBoundingClientRect().top - edge
    const number = piecesOf(part).findIndex((one) => one.contains(inner))
    return { key: keyOf(part), part: at(part), inner, number, at: at(inner), head: inner.textContent.slice(0, HEAD) }
  }

  // Where everything is

  get top() {
    return this.main.scrollTop
  }

  get asked() {
    return this.question && this.main.querySelector(`.st-key-question-${this.question}, .st-key-answer-${this.question}`)
  }

  // It stands behind others, whose answers are still read.
  get waits() {
    return this.main.querySelector(`.st-key-question-waits-${this.question}`)
  }

  // The first line that can be read, below what lies over the page.
  get edge() {
    const header = document.querySelector('[data-testid="stHeader"]')
    return Math.max(this.main.getBoundingClientRect().top, header?.getBoundingClientRect().bottom ?? 0)
  }

  get block() {
    return this.main.querySelector('[data-testid="stMainBlockContainer"]')
  }

  get bar() {
    return this.main.querySelector('[data-testid="stBottom"]')
  }

  // Where the window ends for what is read: above the composer.
  get floor() {
    const end = this.main.getBoundingClientRect().top + this.main.clientHeight
    return Math.min(end, this.bar?.getBoundingClientRect().top ?? end)
  }

  // Where what can be read ends; the room below a short answer is not part of it.
  get end() {
    return this.block?.lastElementChild?.getBoundingClientRect().bottom ?? 0
  }

  below() {
    return this.end - this.floor
  }

  get most() {
    return this.main.scrollHeight - this.main.clientHeight
  }

  go(top) {
    const wanted = Math.max(0, Math.min(Math.round(top), this.most))
    if (Math.abs(wanted - this.top) < 1) return
    this.expected = wanted
    this.main.scrollTop = wanted
  }

  // Something was drawn: what is observed may be another element.
  look() {
    this.repeated()
    const wanted = [this.main, this.block, this.block?.lastElementChild, this.bar].filter(Boolean)
    if (!this.watched || wanted.some((one, i) => one !== this.watched[i])) {
      this.sizes.disconnect()
      this.drawn.disconnect()
      wanted.forEach((one) => this.sizes.observe(one))
      for (const one of [this.main, this.block]) if (one) this.drawn.observe(one, { childList: true })
      this.watched = wanted
    }
  }

  // After each layout, before it is painted.
  settle() {
    if (this.ended) return
    this.look()
    this.makeRoom()
    if (!this.hold() && this.mode === QUESTION && this.collapsed()) {
      this.mode = PLACE
      this.anchor = this.reads
      this.makeRoomAbove()
    }
    if (this.mode === END || this.awaits) this.go(this.main.scrollHeight)
    else if (this.mode === PLACE) this.keep()
    else this.atQuestion()
    this.height = this.main.scrollHeight
    this.note()
    if (this.mode === QUESTION) {
      this.reads = this.behindSteps()
      if (this.asked) this.remember()
    }
    this.show()
  }

  // The page takes steps away before it draws the line that stands for them: what it shows meanwhile is not noted.
  note() {
    const part = this.main.querySelector(".leaf-live:not([data-over])")?.closest(PARTS)
    if (!part) return
    const pieces = piecesOf(part)
    const steps = pieces.filter(isStep).length
    if (this.noted?.key === keyOf(part) && steps < this.noted.steps) return
    this.noted = { key: keyOf(part), steps, tops: topsIn(part, pieces) }
    if (part === this.grows) return
    this.grows = part
    this.pieces.disconnect()
    this.pieces.observe(part, { childList: true, subtree: true })
  }

  // Also while the page is still drawing what comes of the answer.
  hold() {
    const { key, steps, tops, far } = this.noted ?? {}
    const part = tops && !far && this.main.querySelector(`.${CSS.escape(key)}`)
    if (!part) return false
    const pieces = piecesOf(part)
    if (!part.querySelector(STEPS) && pieces.filter(isStep).length >= steps) return false
    if (holdIn(part, pieces, tops) > HELD) {
      this.noted.far = true
      letGoIn(part)
      return false
    }
    this.noted.until ??= performance.now() + COMES
    this.closing ??= setTimeout(() => this.close(), ANEW + QUIET)
    return true
  }

  // The text moves up to its steps, below a question that stays; whoever reads elsewhere is kept there.
  close() {
    const draws = !isIdle() && performance.now() < this.noted?.until
    if (draws) this.closing = setTimeout(() => this.close(), QUIET)
    if (draws) return
    closeIn(this.main)
    this.reads = null
    this.letGo()
  }

  letGo() {
    clearTimeout(this.closing)
    this.closing = null
    letGoIn(this.main)
    this.pieces.disconnect()
    this.grows = null
    this.noted = null
  }

  // The first piece behind the steps of an answer that grows, if it is seen: it stays where it is when they become one line.
  behindSteps() {
    const parts = [...this.main.querySelectorAll(PARTS)]
    const part = parts[parts.indexOf(this.asked) + 1]
    if (!part) return null
    // It grew until now, and is about to be drawn whole.
    if (!part.querySelector(".leaf-live:not([data-over])")) return this.reads?.key === keyOf(part) ? this.reads : null
    const pieces = piecesOf(part)
    const number = pieces.findLastIndex(isStep) + 1
    const inner = pieces[number]
    const at = (element) => element.getBoundingClientRect().top - this.edge
    if (number < 2 || !inner || at(inner) > this.floor - this.edge) return null
    return { key: keyOf(part), part: at(part), inner, number, at: at(inner) }
  }

  // Where there is nothing above to scroll back to, as before the first question of a chat.
  makeRoomAbove() {
    const moved = this.movedBy(this.anchor)
    if (this.top + moved < 0) this.main.style.setProperty("--leaf-room-above", `${-this.top - moved}px`)
  }

  collapsed() {
    return this.reads && this.main.querySelector(`.${CSS.escape(this.reads.key)} ${STEPS}`)
  }

  atQuestion() {
    const asked = this.asked
    if (asked && this.marks) this.point(asked)
    if (asked) this.go(this.top + asked.getBoundingClientRect().top - this.edge - ABOVE)
    else if (this.waits) this.go(this.main.scrollHeight)
    else if (performance.now() > this.until) this.mode = END
  }

  // A link leads here.
  point(part) {
    this.marks = false
    part.animate([{ backgroundColor: "rgb(224 164 60 / 0.28)" }, { backgroundColor: "transparent" }], { duration: 2600, easing: "ease-in" })
  }

  // A question at the window's top needs as much below it.
  makeRoom() {
    const asked = this.asked
    let room = 0
    if (asked && this.block?.lastElementChild) {
      const long = this.block.lastElementChild.getBoundingClientRect().bottom - asked.getBoundingClientRect().top
      const own = parseFloat(getComputedStyle(this.block).paddingBottom) - (this.room ?? 0)
      room = Math.max(0, Math.ceil(this.floor - this.edge - ABOVE - long - own))
    }
    if (room !== (this.room ?? 0)) {
      this.room = room
      this.main.style.setProperty("--leaf-room", `${room}px`)
    }
  }

  keep() {
    const moved = this.movedBy(this.anchor)
    if (Math.abs(moved) >= 1) this.go(this.top + moved)
  }

  movedBy(anchor) {
    if (!anchor) return 0
    const part = this.partOf(anchor)
    const inner = anchor.inner?.isConnected ? anchor.inner : part && this.pieceOf(part, anchor)
    if (!part && !inner) return 0
    return (inner ?? part).getBoundingClientRect().top - this.edge - (inner ? anchor.at : anchor.part)
  }

  // What was read is not drawn yet.
  get awaits() {
    return this.recalled && !this.partOf(this.anchor)
  }

  partOf(anchor) {
    return anchor && this.main.querySelector("." + CSS.escape(anchor.key))
  }

  // In a tab that saw an answer grow it may have other pieces than in one that did not.
  pieceOf(part, { number, head }) {
    const pieces = piecesOf(part)
    const reads = (piece) => head && piece?.textContent.startsWith(head)
    return reads(pieces[number]) ? pieces[number] : (pieces.find(reads) ?? pieces[number])
  }

  // The way back to the end
  show() {
    const parts = this.main.querySelectorAll(PARTS)
    const last = parts[parts.length - 1]
    // Another part, or more of the one that is being written; a narrower page or an opened step is nothing new.
    const newest = last ? `${keyOf(last)} ${last.querySelector(".leaf-live:not([data-over])")?.textContent.length ?? ""}` : ""
    const below = this.below()
    if (this.newest && newest !== this.newest && this.mode !== END && below > NEAR) this.news = true
    if (below <= NEAR) this.news = false
    this.newest = newest
    const hidden = this.mode === END || below <= NEAR || !this.echo.hidden
    if (this.pill.hidden !== hidden) this.pill.hidden = hidden
    if (hidden) return
    const said = this.news ? this.data.news : ""
    if (this.pill.lastChild.textContent !== said) this.pill.lastChild.textContent = said
    const { left, width } = this.block.getBoundingClientRect()
    this.pill.style.left = `${left + width / 2}px`
    this.pill.style.top = `${this.floor - 48}px`
  }
}

let reading = null
let popped = -Infinity
window.addEventListener("popstate", () => (popped = performance.now()))

export default function ({ data, parentElement }) {
  const main = document.querySelector("#stMain")
  const pill = parentElement.querySelector(".leaf-to-end")
  const echo = parentElement.querySelector(".leaf-echo")
  if (!main || !pill || !echo) return
  if (!reading || reading.ended || reading.main !== main || reading.pill !== pill) {
    const before = reading
    reading = new Reading(main, pill, echo)
    if (before) reading.takeOver(before)
    before?.dispose()
  }
  pill.title = data.end
  pill.setAttribute("aria-label", data.end)
  const mine = reading
  mine.update(data)
  return () => {
    // What Streamlit ends may be an earlier call for an element that stays, and that after a later call for it.
    setTimeout(() => pill.isConnected || mine.dispose())
  }
}
