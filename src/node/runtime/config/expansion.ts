/** What the kernel gives a program as one argument, or as a variable with its name, at most (MAX_ARG_STRLEN). */
export const MAX_TEXT_BYTES = 128 * 1024;

/** What the kernel gives a program at most, whatever the limits of its stack are: its variables and arguments. */
export const MAX_PROGRAM_BYTES = 6 * 1024 * 1024;

/** Expands the words of a command. Undefined where no program can be given so much. */
export function expandWords(
  words: readonly string[],
  lookup: (name: string) => string | undefined,
): string[] | undefined {
  const expanded: string[] = [];
  let left = MAX_PROGRAM_BYTES;
  for (const word of words) {
    const text = expandVariables(word, lookup);
    if (text === undefined) return undefined;
    left -= Buffer.byteLength(text) + 1;
    if (left < 0) return undefined;
    expanded.push(text);
  }
  return expanded;
}

/**
 * Replaces `$(NAME)` by the variable's value; `$$` stands for `$`, so that `$$(NAME)` becomes `$(NAME)`. A reference to
 * an unknown variable and an unfinished one stay as they are. What a value contains is not expanded again. Undefined
 * where the result has more than `MAX_TEXT_BYTES`: a few variables that each repeat the one before would fill the memory.
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string | undefined {
  const parts: string[] = [];
  let end = 0;
  let left = MAX_TEXT_BYTES;
  const add = (part: string) => {
    left -= Buffer.byteLength(part);
    parts.push(part);
  };
  for (const { 0: reference, 1: name, index } of text.matchAll(/\$(?:\$|\(([^)]*)\))/g)) {
    add(text.slice(end, index));
    add(name === undefined ? "$" : (lookup(name) ?? reference));
    end = index + reference.length;
    if (left < 0) return undefined;
  }
  add(text.slice(end));
  return left < 0 ? undefined : parts.join("");
}
