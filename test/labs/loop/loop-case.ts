/** Something hostile, done once. */
export type Act = () => unknown

/** Gives what is to be done, of so much of its greatest size: what it takes to make it is not measured. */
export type LoopCase = (share: number) => Act | Promise<Act>

export type LoopCases = Readonly<Record<string, LoopCase>>
