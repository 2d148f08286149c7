// What is half written stays with its chat in this tab: over a reload, while other pages are read, and beside other chats, none of which is
// asked what was meant for another. leaf/ui/page_head.py puts it into the page; what is typed without a connection is kept by lost.js.

const DRAFT = "leaf-draft-"
const SETTLED = 150
const PATIENCE = 10_000
const GIVEN_BACK = 1500

const held = new Map() // for a browser that keeps nothing
const draftOf = (chat) => {
  try {
    return sessionStorage.getItem(DRAFT + chat) ?? ""
  } catch {
    return held.get(chat) ?? ""
  }
}
const put = (chat, text) => {
  if (isOver) return
  held.set(chat, text)
  try {
    if (text) sessionStorage.setItem(DRAFT + chat, text)
    else sessionStorage.removeItem(DRAFT + chat)
  } catch {}
}

let seen = null // the composer, and its chat, that were last looked at
let chatSeen = null
let begins = false // whether the new chat has just been asked something
let waiting = 0
let isOver = false // somebody has signed out; who signs in next loads the page anew

// In another chat, or in a composer that is drawn anew. What somebody has typed there meanwhile stays.
const arrive = (chat) => {
  const [before, stands] = [chatSeen, field().value]
  const isNew = field() !== seen || chat !== before
  seen = field()
  chatSeen = chat
  if (!isNew) return
  const from = before === null ? "" : draftOf(before)
  if (before === "" && chat && (begins || !document.querySelector(QUESTIONS))) { // the new chat has come to be, by a question or a file
    const own = draftOf(chat) // typed since, or of one that was there before
    if (!own) put(chat, from)
    if (!own || begins) put("", "")
  }
  if (stands !== draftOf(chat) && (!stands || stands === from)) fill(draftOf(chat))
  begins = false
}

// This chat was deleted elsewhere, and a new one stands in its place.
const goOn = () => {
  const chat = here()
  put("", [draftOf(""), draftOf(chat)].filter(Boolean).join("\n\n"))
  put(chat, "")
  if (chatSeen === chat) chatSeen = ""
}

// The composer takes nothing for a moment after the page says that it is drawn.
const look = () => {
  const until = performance.now() + PATIENCE
  const again = () => {
    if (isReady()) arrive(here())
    else if (performance.now() < until) waiting = setTimeout(again, SETTLED)
  }
  clearTimeout(waiting)
  waiting = setTimeout(again, SETTLED)
}

const sent = () => {
  const chat = here()
  begins = !chat
  put(chat, "")
  setTimeout(() => here() === chat && keep(), GIVEN_BACK) // what could not be sent stands there again
}
const keep = () => field()?.value && put(here(), field().value)

const isSent = (event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target.matches?.(TEXT)
addEventListener("input", (event) => event.target.matches?.(TEXT) && put(here(), event.target.value), true)
addEventListener("keydown", (event) => isSent(event) && field().value.trim() && sent(), true)
addEventListener("click", (event) => event.target.closest?.(SENDS) && sent(), true)
addEventListener("pagehide", keep)
addEventListener("leaf-chat-gone", goOn)
new BroadcastChannel("leaf-signed-out").onmessage = () => {
  isOver = true
  for (const name of Object.keys(sessionStorage)) if (/^leaf-(draft|kept|read)-/.test(name)) sessionStorage.removeItem(name)
}
onStates(look)
look()
