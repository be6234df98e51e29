import { toFetch } from '../../src/adapters/fetch.ts'
import { type ConsoleOptions, createConsole } from '../../src/console/index.ts'
import type { Sallyport, SallyportOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { filledSallyport } from './filled.ts'

/** Headers of a change that the console itself asks for. */
export const SAME_ORIGIN = {
  'sec-fetch-site': 'same-origin',
  'x-sallyport-console': '1',
  'content-type': 'application/json',
}

/** A console at `/ops`. */
export interface OpenedConsole {
  readonly sallyport: Sallyport
  /** Arguments of each call of `onError`. */
  readonly told: readonly (readonly unknown[])[]
  readonly dispatchId: string
  answer(request: Request): Promise<Response>
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** @param headers Default: {@link SAME_ORIGIN}. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
}

export async function opened(
  options: Partial<ConsoleOptions<Request>> = {},
  host: Partial<SallyportOptions<Record<string, unknown>>> = {},
): Promise<OpenedConsole> {
  const told: unknown[][] = []
  const onError = (...of: unknown[]): number => told.push(of)
  const sallyport = await filledSallyport(memoryStore(), { hooks: { onError }, ...host })
  const answer = toFetch(createConsole<Request>(sallyport, { access: () => 'operate', ...options }), {
    basePath: '/ops',
  })
  const { items } = await sallyport.dispatches.list({ limit: 1 })
  return {
    ...{ sallyport, told, answer, dispatchId: items[0]?.dispatchId ?? '' },
    get: (path, headers = {}) => answer(new Request(`http://127.0.0.1/ops${path}`, { headers })),
    post: (path, body = {}, headers = SAME_ORIGIN) =>
      answer(new Request(`http://127.0.0.1/ops${path}`, { method: 'POST', headers, body: JSON.stringify(body) })),
  }
}
