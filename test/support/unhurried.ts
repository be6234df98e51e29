/** Time limit of a part in tests that are about something else. It is as long as a test may take, so that no machine is too slow. */
export const UNHURRIED_MS = 120_000

/** Time limit of builds, installations and browsers: only ends one that hangs. */
export const HANG_MS = 1_800_000
