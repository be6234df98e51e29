// Requires every entry of the installed package, then imports it, and prints its names and whether the two are one.
const manifest = require('sallyport/package.json')

const entries = Object.keys(manifest.exports).filter((path) => path !== './package.json')
const required = new Map(entries.map((path) => [`sallyport${path.slice(1)}`, require(`sallyport${path.slice(1)}`)]))
const { SallyportError } = required.get('sallyport')
const { appSecrets } = required.get('sallyport/auth')
const { toFetch } = required.get('sallyport/fetch')

function isOurFault(misuse) {
  try {
    misuse()
    return false
  } catch (error) {
    return error instanceof SallyportError
  }
}

async function report() {
  const names = {}
  const doubled = []
  for (const [entry, module] of required) {
    names[entry] = Object.keys(module)
    if (module !== (await import(entry))) doubled.push(entry)
  }
  const faults = [isOurFault(() => appSecrets([])), isOurFault(() => toFetch({}, { basePath: '?' }))]
  process.stdout.write(JSON.stringify({ names, doubled, faults }))
}

report()
