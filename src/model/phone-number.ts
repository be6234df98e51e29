const E164 = /^\+[1-9]\d{6,14}$/

/** Whether a string is a number of the international plan, E.164: `+` and 7 to 15 digits. */
export function isPhoneNumber(text: string): boolean {
  return E164.test(text)
}
