/** `npm run bench`: every figure a ratio of two things measured side by side in this run. */
import { cpus } from 'node:os'
import { benchInProcess } from './in-process.ts'
import { benchOverHttp } from './over-http.ts'

console.log(
  `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}. Medians, (lowest-highest) over the rounds.`,
)
await benchInProcess()
await benchOverHttp()
