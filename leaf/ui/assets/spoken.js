// What scripts of the page say, in its language: the page hands in the translations of the texts in t("…") and n_("…", "…", n), by their
// English (leaf/ui/spoken.py). Goes before the script that speaks.

let SAID = {}
let LANGUAGE = "en"
let FORMS = new Intl.PluralRules(LANGUAGE)

const speak = ({ said, language }) => {
  SAID = Object.fromEntries(said ?? [])
  document.documentElement.lang = language ?? LANGUAGE
  if (!language || language === LANGUAGE) return
  LANGUAGE = language
  FORMS = new Intl.PluralRules(LANGUAGE)
}
const t = (text, values) => {
  const found = SAID[text] ?? text
  return values ? found.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "") : found
}
const n_ = (one, many, n, values) => t(FORMS.select(n) === "one" ? one : many, { n: inDigits(n), ...values })
const mark = (text) => text // translated where it is shown
const inDigits = (number, digits = 0) =>
  number.toLocaleString(LANGUAGE, { minimumFractionDigits: digits, maximumFractionDigits: digits })
