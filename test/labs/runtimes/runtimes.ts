/**
 * `npm run runtimes` checks the packed package in every runtime, and compiles its types with TypeScript. `npm run
 * runtimes -- bun deno` selects runtimes by prefix.
 *
 * Packs the package first, or uses the tarball in SALLYPORT_TARBALL. Runtimes that cannot be fetched are skipped and
 * reported; with SALLYPORT_REQUIRE_SERVICES=1 they count as failed.
 */
import { onBun } from './on-bun.ts'
import { onDeno } from './on-deno.ts'
import { onNode } from './on-node.ts'
import { onWorkerd } from './on-workerd.ts'
import { NotFetched } from './registry.ts'
import { Report } from './report.ts'
import type { Runtime, Site } from './runtime.ts'
import { buildSite } from './site.ts'
import { withTypeScript } from './typescript.ts'

const RUNTIMES: readonly Runtime[] = [...['20', '22', '24', '26'].map(onNode), onBun, onDeno, onWorkerd]

const wanted = process.argv.slice(2).map((name) => name.toLowerCase())
const isWanted = (name: string): boolean =>
  wanted.length === 0 || wanted.some((start) => name.toLowerCase().startsWith(start))

const report = new Report(process.env.SALLYPORT_REQUIRE_SERVICES === '1')
const site = await buildSite()
report.print(`the package is installed after ${report.elapsed()}`)
try {
  // Runtimes and TypeScript run side by side, each of them one after another.
  await Promise.all([visitAll(site), isWanted('TypeScript') && withTypeScript(site, report)])
} finally {
  await site.remove()
}
report.end()
// Ends processes that a failed runtime may have left.
process.exit(report.failed > 0 ? 1 : 0)

async function visitAll(site: Site): Promise<void> {
  for (const runtime of RUNTIMES.filter(({ name }) => isWanted(name))) await visit(runtime, site)
}

async function visit(runtime: Runtime, site: Site): Promise<void> {
  const running = await runtime.open(site).catch((error: unknown) => {
    if (error instanceof NotFetched) report.skip(runtime.name, error.message)
    else report.fail(runtime.name, 'start', String(error))
  })
  if (!running) return
  try {
    for (const { target, groups } of running.visits) {
      for (const { name, checks } of groups) {
        const faults: string[] = []
        for (const check of checks) {
          await check.run(target).catch((error: unknown) => void faults.push(`${check.name}: ${String(error)}`))
        }
        report.group(target.name, name, checks.length, faults)
      }
    }
    const errors = running.errors?.() ?? ''
    if (errors !== '') report.print(`${runtime.name} wrote: ${errors}`)
  } finally {
    await running.close()
  }
}
