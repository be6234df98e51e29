/** Until when providers asked to be left alone with a delivery. Instants are epoch milliseconds. */
export interface ProviderWaits {
  /** 0 where it asked for nothing. */
  until(deliveryId: string, provider: string): number
  add(deliveryId: string, provider: string, until: number): void
  forget(deliveryId: string): void
}

/** Deliveries that are remembered at most; the least recently asked for is forgotten first. */
const MAX_DELIVERIES = 10_000

export function providerWaits(): ProviderWaits {
  const byDelivery = new Map<string, Map<string, number>>()
  return {
    until: (deliveryId, provider) => byDelivery.get(deliveryId)?.get(provider) ?? 0,
    add(deliveryId, provider, until) {
      const waits = byDelivery.get(deliveryId) ?? new Map<string, number>()
      byDelivery.delete(deliveryId)
      byDelivery.set(deliveryId, waits.set(provider, until))
      const [oldest] = byDelivery.keys()
      if (byDelivery.size > MAX_DELIVERIES && oldest !== undefined) byDelivery.delete(oldest)
    },
    forget: (deliveryId) => void byDelivery.delete(deliveryId),
  }
}
