/** Polls a condition in real time, with real or fake timers. The time limit of the test ends it. */
export async function until(holds: () => unknown): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate)
}
