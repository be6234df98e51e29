/**
 * `npm run bench`: every figure a ratio of two things measured side by side in this run, on the built package.
 * `npm run bench -- in-process` or `-- over-http` for one part.
 */
import { cpus } from 'node:os'
import { benchInProcess } from './in-process.ts'
import { benchOverHttp } from './over-http.ts'

const PARTS = { 'in-process': benchInProcess, 'over-http': benchOverHttp }

const wanted = process.argv[2]
console.log(
  `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}. Medians, (lowest-highest) over the rounds.`,
)
for (const [name, bench] of Object.entries(PARTS)) if (wanted === undefined || wanted === name) await bench()
