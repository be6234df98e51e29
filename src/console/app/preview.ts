/** Shows the mail that the console sends. It is parsed, never run: scripts are removed, and the policy allows none of its own. */
addEventListener('message', ({ source, data }) => {
  if (source !== parent || typeof data?.html !== 'string') return
  const mail = new DOMParser().parseFromString(data.html, 'text/html')
  for (const unsafe of mail.querySelectorAll('script, meta, base, iframe, object, embed')) unsafe.remove()
  document.head.replaceChildren(...mail.head.childNodes)
  document.body.replaceChildren(...mail.body.childNodes)
})
