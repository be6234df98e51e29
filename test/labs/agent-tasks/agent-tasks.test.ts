import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createParts } from './parts.ts'
import * as rateLimit from './solutions/rate-limit.ts'
import * as retryFailed from './solutions/retry-failed.ts'
import * as sendOnce from './solutions/send-once.ts'
import * as smsFallback from './solutions/sms-fallback.ts'
import { checkModule, type Module } from './task.ts'
import { printTasks, TASKS } from './tasks.ts'

const names = TASKS.map(({ name }) => name)

async function check(name: string, module: Module): Promise<void> {
  const task = TASKS.find((one) => one.name === name)
  if (!task) throw new Error(`no task ${name}`)
  await checkModule(task, module, createParts())
}

const loadSolution = (name: string): Promise<Module> => import(`./solutions/${name}.ts`)

it('There are twenty tasks, each with a reference solution', () => {
  const solutions = readdirSync(new URL('./solutions/', import.meta.url)).map((file) => file.replace('.ts', ''))
  expect(names).toHaveLength(20)
  expect(solutions.sort()).toEqual(names.toSorted())
})

it.each(names)('The reference solution of %s passes its check', async (name) => {
  await check(name, await loadSolution(name))
})

it.each(TASKS)('The text of $name names the functions that its solution exports', async ({ name, text }) => {
  const named = [...text.matchAll(/^export function (\w+)/gm)].map(([, one]) => one)
  expect(Object.keys(await loadSolution(name))).toEqual(named)
})

it('The printed tasks name each file', () => {
  const printed = printTasks()
  expect(names.filter((name) => !printed.includes(`. \`${name}.ts\``))).toEqual([])
})

const WRONG: Readonly<Record<string, readonly [name: string, module: Module]>> = {
  'A module without the export': ['express-host', {}],
  'A receiver that verifies nothing': [
    'verify-webhook',
    {
      receive: (_secret: string, headers: Readonly<Record<string, string>>, body: string) => {
        const { type, data } = JSON.parse(body)
        return { id: headers['webhook-id'], type, data }
      },
    },
  ],
  'A limit that allows one more request': [
    'rate-limit',
    {
      start: (options: Parameters<typeof rateLimit.start>[0]) =>
        rateLimit.start({ ...options, perMinute: options.perMinute + 1 }),
    },
  ],
  'A reminder that is sent for each call': [
    'send-once',
    {
      open(options: Parameters<typeof sendOnce.open>[0]) {
        const { remind, deliver } = sendOnce.open(options)
        return { deliver, remind: (invoice: string, to: string) => remind(`${invoice}-${crypto.randomUUID()}`, to) }
      },
    },
  ],
  'An SMS that never follows': [
    'sms-fallback',
    {
      open: (options: Parameters<typeof smsFallback.open>[0]) =>
        smsFallback.open({ ...options, smsUrl: 'http://127.0.0.1:1' }),
    },
  ],
  'A retry that also takes what failed earlier': [
    'retry-failed',
    {
      open(options: Parameters<typeof retryFailed.open>[0]) {
        const host = retryFailed.open(options)
        return { ...host, retryFailed: () => host.retryFailed(new Date(0)) }
      },
    },
  ],
}

it.each(Object.entries(WRONG))('%s does not solve its task', async (_, [name, module]) => {
  await expect(check(name, module)).rejects.toThrow()
})
