// What is dropped, chosen or pasted, before it is sent: files with their folders, and what a long paste is. Goes before uploads.js.

// What was dropped, with its folders. The entries are there only until the event is over.

const dropped = (transfer) => {
  const items = [...transfer.items].filter((item) => item.kind === "file")
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean)
  return Promise.all(entries.map((entry) => found(entry))).then((lists) => lists.flat())
}

const found = async (entry) => {
  if (entry instanceof File) return [{ file: entry, path: entry.name }]
  const path = entry.fullPath.replace(/^\//, "")
  if (entry.isFile) return [{ file: await new Promise((done, failed) => entry.file(done, failed)), path }]
  const reader = entry.createReader()
  const inside = []
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed))
    if (!some.length) break
    inside.push(...some)
  }
  return (await Promise.all(inside.map(found))).flat()
}

const chosen = (files) => [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }))

// What a long paste is: a table, a text, or nothing special.

const width = (line, sign) => {
  let cells = 1
  let quoted = false
  for (const character of line) {
    if (character === '"') quoted = !quoted
    else if (character === sign && !quoted) cells += 1
  }
  return cells
}

const tableOf = (text) => {
  const lines = text.split(/\r\n?|\n/).filter((line) => line.trim())
  if (lines.length < 3 || (lines.length < TABLE_LINES && text.length <= TABLE_CHARACTERS)) return ""
  const some = lines.slice(0, LOOKED_AT)
  for (const [sign, ending, share] of [["\t", "tsv", 0.9], [";", "csv", 0.95], [",", "csv", 0.95]]) {
    const widths = new Map()
    for (const line of some) widths.set(width(line, sign), (widths.get(width(line, sign)) ?? 0) + 1)
    const [cells, lines] = [...widths].sort((a, b) => b[1] - a[1])[0]
    if (cells > 1 && lines >= share * some.length) return ending
  }
  return ""
}

const write = (field, text) => {
  const before = field.value.slice(0, field.selectionStart ?? field.value.length)
  const after = field.value.slice(field.selectionEnd ?? field.value.length)
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, before + text + after)
  field.dispatchEvent(new Event("input", { bubbles: true }))
  field.focus()
}
