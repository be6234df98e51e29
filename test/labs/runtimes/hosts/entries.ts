import manifest from 'sallyport/package.json' with { type: 'json' }

/** The names of each entry of the installed package, or the error of its import. */
export async function loadEntries(): Promise<Readonly<Record<string, readonly string[] | string>>> {
  const paths = Object.keys(manifest.exports).filter((path) => path !== './package.json')
  const loaded = paths.map(async (path) => {
    const entry = `sallyport${path.slice(1)}`
    return [entry, await import(entry).then(Object.keys, String)] as const
  })
  return Object.fromEntries(await Promise.all(loaded))
}
