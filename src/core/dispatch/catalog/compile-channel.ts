import { isRecord } from '../../../options/read-options.ts'
import type { CatalogChannel } from '../../../ports/event-catalog.ts'
import type { Compilation } from './compilation.ts'
import { compileCondition } from './compile-condition.ts'
import { compileLocales, inLocale } from './compile-locales.ts'
import { compileTemplates } from './compile-template.ts'
import type { ChannelDefinition } from './event-definition.ts'

const CHANNEL_NAME = /^[A-Za-z0-9._-]{1,64}$/

/** Compiles what goes out on one channel of an event. */
export function compileChannel(
  event: string,
  channel: string,
  definition: ChannelDefinition<unknown>,
  compilation: Compilation,
): CatalogChannel {
  const { problems } = compilation
  const place = { event, channel }
  if (!CHANNEL_NAME.test(channel)) problems.push({ ...place, detail: 'a channel name is 1-64 of A-Z a-z 0-9 . _ -' })
  if (!isRecord(definition)) {
    problems.push({ ...place, detail: 'is not a channel definition: { when?, locales?, …fields }' })
    return { channel, fields: {} }
  }
  const { when, locales, ...templates } = definition
  const condition = compileCondition(when, { ...place, field: 'when' }, compilation)
  const renderers = compileTemplates(templates, (field) => ({ ...place, field }), compilation)
  const names = Object.keys(templates).filter((name) => templates[name] !== undefined)
  const inOthers = compileLocales(locales, names, place, compilation)
  const fields = [...renderers].map(([field, renderer]) => [field, inLocale(field, renderer, inOthers)] as const)
  return { channel, fields: Object.fromEntries(fields), ...(condition && { when: condition }) }
}
