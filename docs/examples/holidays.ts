import { type ConfigProblem, SallyportError } from 'sallyport'
import { actionsOf, type CallAction, type Plugin, recordsOf } from 'sallyport/plugins'

/** A recipient whose messages wait on the public holidays of a country, until a last day. */
export interface Rest {
  readonly tenant?: string
  readonly recipient: string
  /** Two letters, such as `DE`. */
  readonly country: string
  /** Such as `2027-12-31`. */
  readonly lastDay: string
}

interface Holidays {
  rest(of: Rest): Promise<object>
}

const HOUR_MS = 3_600_000
const MOST_HOURS = 31 * 24
const FORMS = { recipient: /^.{1,200}$/s, country: /^[A-Z]{2}$/, lastDay: /^\d{4}-\d\d-\d\d$/ }

const REST: CallAction<Holidays> = {
  ...{ name: 'rest_on_holidays', operation: 'manage', method: 'POST', path: '/api/outbound/holidays' },
  ...{ maxBytes: 4_096, body: Object.keys(FORMS), call: (holidays, of: Rest) => holidays.rest(of) },
}

/** @param isHoliday Whether a day is a public holiday of a country. */
export function holidays(
  isHoliday: (day: string, country: string) => boolean,
): Plugin<'holidays', { holidays: Holidays }> {
  return {
    name: 'holidays',
    needs: ['dispatch'],
    setup(core) {
      const rests = recordsOf<Pick<Rest, 'country' | 'lastDay'>>(core, 'rests', {
        expiresAt: ({ lastDay }) => Date.parse(lastDay) + 24 * HOUR_MS,
      })
      const api: Holidays = {
        async rest({ tenant = 'default', ...rest }) {
          const problems = Object.entries(FORMS).flatMap(([field, form]): ConfigProblem[] =>
            form.test(rest[field as keyof typeof FORMS]) ? [] : [{ field, detail: `must match ${form}` }],
          )
          if (problems.length > 0) throw new SallyportError('option_invalid', 'holidays.rest:', problems)
          const { recipient, country, lastDay } = rest
          await rests.change(tenant, recipient, () => ({ country, lastDay }))
          return rest
        },
      }
      return {
        api: { holidays: api },
        actions: actionsOf([REST], api),
        policy: {
          async decide({ tenant, recipient: { id, timeZone }, critical, at }) {
            const [rest] = critical ? [] : await rests.find(tenant, [id])
            if (!rest) return { verdict: 'send' }
            const { country, lastDay } = rest.body
            let until = at
            for (let hours = 0; hours < MOST_HOURS; hours++) {
              const day = dayOf(until, timeZone)
              if (day > lastDay || !isHoliday(day, country)) break
              until += HOUR_MS
            }
            return until === at ? { verdict: 'send' } : { verdict: 'defer', until }
          },
        },
        recipient: {
          export: async ({ tenant, recipient }) => ({
            rests: (await rests.find(tenant, [recipient])).map(({ body }) => body),
          }),
          erase: async ({ tenant, recipient }) => void (await rests.change(tenant, recipient, () => undefined)),
        },
        prune: (olderThanMs, tenant) => rests.prune(olderThanMs, tenant),
      }
    },
  }
}

/** The day of an instant, by the clock of the recipient. */
function dayOf(ms: number, timeZone = 'UTC'): string {
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(ms)
  } catch {
    return dayOf(ms)
  }
}
