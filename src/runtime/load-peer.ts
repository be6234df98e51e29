import { SallyportError } from '../errors.ts'

/** An entry, its optional peer, and the packages to install for it. */
interface PeerOfEntry {
  readonly entry: string
  readonly peer: string
  readonly install: string
}

/**
 * Loads an optional peer dependency. `tsup.config.ts` inserts a call where the build for Node would import a peer.
 *
 * @param resolve Throws if the peer is not installed.
 * @throws SallyportError `peer_missing`, with the command to run. A peer that is installed but does not load throws its own error.
 */
export function loadPeer<Peer>({ entry, peer, install }: PeerOfEntry, load: () => Peer, resolve: () => unknown): Peer {
  try {
    return load()
  } catch (cause) {
    if (succeeds(resolve)) throw cause
    const summary = `${entry} needs ${peer}, which is not installed: npm install ${install}`
    throw new SallyportError('peer_missing', summary, [], { cause })
  }
}

function succeeds(resolve: () => unknown): boolean {
  try {
    resolve()
    return true
  } catch {
    return false
  }
}
