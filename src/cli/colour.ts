type Environment = Readonly<Record<string, string | undefined>>;

/** The colours that mean something: all is well, mind this, this failed. */
const CODES = { green: 32, yellow: 33, red: 31 } as const;
export type Colour = keyof typeof CODES;

/**
 * Tells whether output has colours: on a terminal, unless `NO_COLOR` is set; and wherever `FORCE_COLOR` asks for them, which
 * goes first, as in Node.js. `FORCE_COLOR=0` is none at all.
 */
export function wantsColour({ NO_COLOR, FORCE_COLOR, TERM }: Environment, isTerminal: boolean): boolean {
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return isTerminal && !NO_COLOR && TERM !== "dumb";
}

/** Colours a text; `isOn` is what `wantsColour` says. */
export function colour(text: string, of: Colour, isOn: boolean): string {
  return isOn ? `\u001b[${CODES[of]}m${text}\u001b[39m` : text;
}
