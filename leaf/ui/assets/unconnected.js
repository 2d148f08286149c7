// A page that stays without its websocket although Leaf answers says so, until it has one. leaf/ui/page_head.py puts it into the page.

const LOOK = 3000
const LONG = 15000
const TOLD = t(
  "Leaf answers, but this page cannot connect to it. Most often a proxy in between lets no websockets through, or hides the name under which the page was opened. Whoever runs Leaf finds what it has to do in docs/sign-in.md, “Behind a proxy”.",
)

const since = Date.now()
let shown = null

const isConnected = () =>
  document.querySelector("[data-test-connection-state]")?.getAttribute("data-test-connection-state") === "CONNECTED"

const answers = async () => {
  try {
    return (await fetch(new URL("./_stcore/health", document.baseURI), { cache: "no-store" })).ok
  } catch {
    return false
  }
}

const show = () => {
  shown = document.createElement("div")
  shown.setAttribute("role", "alert")
  shown.textContent = TOLD
  shown.style.cssText =
    "position: fixed; inset: auto 1rem 1rem; z-index: 1000000; max-width: 40rem; margin: auto; padding: .8rem 1rem; border-radius: .5rem; " +
    "font: 15px/1.5 sans-serif; color: #1d2420; background: #fbefd8; border: 1px solid #c97b12"
  document.body.append(shown)
}

// A connection that is lost later is said by lost.js.
const look = async () => {
  if (isConnected()) {
    clearInterval(timer)
    shown?.remove()
  } else if (!shown && Date.now() - since > LONG && (await answers()) && !isConnected()) {
    show()
  }
}

const timer = setInterval(look, LOOK)
