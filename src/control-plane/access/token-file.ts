import { CodedError } from "../../base/errors.ts";
import type { User } from "../ports/user.ts";

/**
 * The users of a file of static tokens, by token: lines of `token,user,uid,"group1,group2"`, as kube-apiserver's
 * `--token-auth-file` takes them. Throws a CodedError `invalid-token-file`.
 */
export function parseTokenFile(text: string): ReadonlyMap<string, User> {
  const users = new Map<string, User>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const columns = splitColumns(line);
    if (columns.length < 3)
      throw invalid(index, `must have at least 3 columns (token, user name, user uid), found ${columns.length}`);
    const [token = "", username = "", uid = "", groups = ""] = columns;
    if (token === "") throw invalid(index, "has an empty token");
    if (users.has(token)) throw invalid(index, "repeats a token");
    const names = groups.split(",").map((group) => group.trim());
    users.set(token, { username, ...(uid !== "" && { uid }), groups: names.filter((name) => name !== "") });
  }
  return users;
}

function invalid(index: number, problem: string): CodedError<"invalid-token-file"> {
  return new CodedError("invalid-token-file", `line ${index + 1} of the token file ${problem}`);
}

/** Comma-separated values; a value with commas in it stands in quotes, and a quote in it is doubled. */
function splitColumns(line: string): string[] {
  return [...line.matchAll(/(?<=^|,)\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?=,|$)/g)].map(([, quoted, plain = ""]) => {
    return quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"');
  });
}
