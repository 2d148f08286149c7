// The composer as Streamlit draws it, and whether the page takes anything: what lost.js and draft.js know of it, before which this stands.

const TEXT = '[data-testid="stChatInputTextArea"]'
const SENDS = '[data-testid="stChatInputSubmitButton"]'
const QUESTIONS = '[class*="st-key-question-"]'
const STATES = ["data-test-connection-state", "data-test-script-state"]

const app = () => document.querySelector(`[${STATES[0]}]`)
const isConnected = () => app()?.dataset.testConnectionState === "CONNECTED"
const isIdle = () => isConnected() && app().dataset.testScriptState === "notRunning"
const here = () => new URLSearchParams(location.search).get("chat") ?? ""
const field = () => document.querySelector(TEXT)
const isReady = () => isIdle() && field() && !field().disabled
const fill = (text) => {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field(), text)
  field().dispatchEvent(new Event("input", { bubbles: true }))
}
const onStates = (look) => new MutationObserver(look).observe(document.documentElement, { subtree: true, attributes: true, attributeFilter: STATES })
