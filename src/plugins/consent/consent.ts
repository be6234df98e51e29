import { actionsOf } from '../../core/actions/call-action.ts'
import { SallyportError } from '../../errors.ts'
import { readOptions } from '../../options/read-options.ts'
import { readyHashKeys } from '../../runtime/ready-hash-keys.ts'
import { MAX_PAGE, pruneAll } from '../../services/pagination.ts'
import type { Plugin, PluginParts } from '../plugin.ts'
import { PROFILE_ACTIONS, SUPPRESSION_ACTIONS } from './actions.ts'
import { addressKeys } from './address-keys.ts'
import { CONSENT, type ConsentOptions, consentProblems } from './check-options.ts'
import { consentGuard } from './consent-guard.ts'
import { findReports } from './feedback/find-reports.ts'
import { feedbackAction } from './feedback/handle-feedback.ts'
import { refusalLog } from './feedback/refusal-log.ts'
import { feedbackRecords } from './feedback-records.ts'
import { newSuppression } from './new-suppression.ts'
import { type Preferences, preferencesOf } from './preferences.ts'
import { type RecipientProfiles, recipientProfiles } from './recipient-profile.ts'
import { findPreferences, newestPreferences, replacePreferences } from './stored-preferences.ts'
import { suppressionRecords } from './suppression-records.ts'
import { findSuppressedDeliveries, viewSuppression } from './suppression-view.ts'
import { type Suppressions, suppressionsOf } from './suppressions.ts'
import { type Unsubscription, unsubscribeAction, unsubscribeUrl } from './unsubscribe/unsubscribe.ts'

/** Members that {@link consent} adds to a Sallyport. */
export interface ConsentApi {
  readonly suppressions: Suppressions
  readonly preferences: Preferences
  readonly dispatches: RecipientProfiles
}

const DAY_MS = 86_400_000
/** Longest time that a proof which counts once is valid, and a day. */
const PROOF_MS = 8 * DAY_MS

/**
 * Sends nothing to addresses after a bounce, a complaint or an unsubscription, and nothing that recipients do not want:
 * `sallyport.suppressions`, `sallyport.preferences`. Receives the feedback of providers (`POST /api/outbound/feedback/{name}`). With the option
 * `links` of the host, templates read `links.unsubscribe`, the endpoint `/api/outbound/unsubscribe/{token}` shows a page, and mails of events
 * that are not critical get `List-Unsubscribe` headers (RFC 8058).
 *
 * @example
 * ```ts
 * const keys = [{ kid: '2027', key: process.env.LINK_KEY }]
 * const sallyport = createSallyport({
 *   ...ports,
 *   links: { baseUrl: 'https://api.example.com', keys },
 *   plugins: [consent({ keys, feedback: { resend: resend({ channel: 'email', secret }) } })],
 * })
 * await sallyport.suppressions.add({ channel: 'email', address: 'ada@example.com' })
 * ```
 *
 * @throws {SallyportError} `option_invalid`, with all problems of the options. `createSallyport` refuses a source of a channel that it lacks.
 */
export function consent(options: ConsentOptions): Plugin<'consent', ConsentApi> {
  const given = readOptions('consent', options, CONSENT)
  const { feedback = {}, softBounceMs = DAY_MS, page } = given
  return {
    name: 'consent',
    needs: ['dispatch'],
    setup({ store, clock, logger, channels = [], events, fallBack, links, report }) {
      if (!events || !fallBack) throw new TypeError('consent needs a host that dispatches')
      const problems = consentProblems(given, channels, links !== undefined)
      if (problems.length > 0) throw new SallyportError('config_invalid', 'consent', problems)
      const keys = addressKeys(readyHashKeys(given.keys))
      const reports = feedbackRecords(store)
      const suppressed = suppressionRecords(store)
      const suppressions = suppressionsOf({ records: suppressed, clock, channels, addressKeys: keys })
      const profiles = recipientProfiles({ store, suppressions: suppressed, addressKeys: keys })
      const sources = new Map(Object.entries(feedback))
      const receiving = {
        ...{ store, feedback: reports, suppressions: suppressed, events, clock, logger, fallBack, softBounceMs },
        addressKeys: keys,
        onRefused: refusalLog(logger, clock),
      }

      async function unsubscribe({ tenant, channel, addressKey, category }: Unsubscription): Promise<void> {
        const facts = { tenant, channel, addressKey, reason: 'unsubscribed', source: 'link' } as const
        await suppressed.add([await newSuppression({ ...facts, ...(category !== undefined && { category }) })])
      }

      const parts: PluginParts<ConsentApi> = {
        api: {
          suppressions,
          preferences: preferencesOf({ store, recipientKeys: keys }),
          dispatches: profiles,
        },
        actions: [...actionsOf(PROFILE_ACTIONS, profiles), ...actionsOf(SUPPRESSION_ACTIONS, suppressions)],
        open: [
          ...(sources.size > 0 ? [feedbackAction(sources, receiving)] : []),
          ...(links ? [unsubscribeAction({ links, unsubscribe, page, report })] : []),
        ],
        guard: consentGuard({ store, suppressions: suppressed, keys }),
        ...(links && {
          links: {
            async unsubscribe({ address, ...target }) {
              return unsubscribeUrl({ ...target, addressKey: await keys.current(target.tenant, address) }, links)
            },
          },
        }),
        fallbackOn: sources.size > 0 ? ['bounced'] : [],
        view: {
          async deliveries(dispatches, shown) {
            const members = new Map<string, object>()
            // An export has the reports of earlier sources too.
            const isAsked = sources.size > 0 || shown === 'export'
            const found = isAsked ? await findReports(dispatches, reports) : []
            for (const [id, feedback] of found) members.set(id, { feedback })
            for (const dispatch of shown === 'one' ? dispatches : [])
              for (const [id, rest] of await findSuppressedDeliveries(dispatch, suppressed, keys))
                members.set(id, { ...members.get(id), ...rest })
            return members
          },
        },
        recipient: {
          async export({ tenant, recipient }) {
            const own = await keys.all(tenant, recipient)
            const newest = newestPreferences(await findPreferences(store, own), own)
            const found = await suppressed.find(own)
            return {
              ...(newest && { preferences: newest }),
              ...(found.length > 0 && { suppressions: found.map(viewSuppression) }),
            }
          },
          async erase({ tenant, recipient }) {
            await replacePreferences(store, await keys.all(tenant, recipient))
          },
        },
        async prune(olderThanMs, tenant) {
          const removal = { tenant, storedForMs: Math.max(olderThanMs, PROOF_MS), limit: MAX_PAGE }
          await pruneAll(() => reports.remove(removal), removal.limit, clock)
          await pruneAll(() => suppressed.removeExpired(MAX_PAGE), MAX_PAGE, clock)
        },
      }
      return parts
    },
  }
}
