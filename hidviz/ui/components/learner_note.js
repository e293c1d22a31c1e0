// What a learner assumes and costs, and its equations behind a fold; those in play are marked.

export function render({ model }) {
  const root = document.createElement("div")
  const summary = document.createElement("p")
  const fold = document.createElement("details")
  const title = document.createElement("summary")
  title.textContent = "Equations"
  const list = document.createElement("ol")
  fold.append(title, list)
  root.className = "note"
  const advice = document.createElement("p")
  const reason = document.createElement("span")
  const take = document.createElement("button")
  take.type = "button"
  take.addEventListener("click", () => model.send_msg({ press: "advice" }))
  advice.append(reason, take)
  root.append(summary, advice, fold)

  const say = () => {
    summary.textContent = model.summary
    reason.textContent = `When to stop: ${model.advice} `
    take.textContent = model.offer
    take.hidden = !model.offer
  }
  const mark = () => {
    [...list.children].forEach((line, k) => line.classList.toggle("active", model.active.includes(k)))
    if (model.active.length) { fold.open = true }
  }
  const write = () => {
    list.replaceChildren(...model.equations.map((tex) => {
      const line = document.createElement("li")
      if (window.katex) {
        window.katex.render(tex, line, { output: "mathml", displayMode: true, throwOnError: false })
      } else {
        line.textContent = tex
      }
      return line
    }))
    mark()
  }
  const theme = () => root.classList.toggle("dark", model.dark)
  for (const name of ["summary", "advice", "offer"]) { model.on(name, say) }
  model.on("equations", write)
  model.on("active", mark)
  model.on("dark", theme)
  say()
  write()
  theme()
  return root
}
