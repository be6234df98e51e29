// Requires and imports the entries that need a peer, where none is installed, and prints the errors.
const { isSallyportError } = require('sallyport')
const manifest = require('sallyport/package.json')

const entries = Object.entries(manifest.exports)
  .filter(([, target]) => target.node)
  .map(([path]) => `sallyport${path.slice(1)}`)

async function errorOf(load) {
  try {
    await load()
    return 'loaded'
  } catch (error) {
    return isSallyportError(error) ? `${error.code}: ${error.message}` : String(error)
  }
}

async function report() {
  const errors = {}
  for (const entry of entries) {
    errors[entry] = [await errorOf(() => require(entry)), await errorOf(() => import(entry))]
  }
  process.stdout.write(JSON.stringify(errors))
}

report()
