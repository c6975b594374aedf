/**
 * Replaces `$(NAME)` by the variable's value; `$$` stands for `$`, so that `$$(NAME)` becomes `$(NAME)`. A reference to
 * an unknown variable and an unfinished one stay as they are. What a value contains is not expanded again.
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (reference: string, name: string | undefined) =>
    name === undefined ? "$" : (lookup(name) ?? reference),
  );
}
