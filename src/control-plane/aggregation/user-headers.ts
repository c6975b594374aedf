import type { User } from "../ports/user.ts";

/** The headers by which a backend reads in whose name it is asked, as the cluster publishes them. */
export const USER_HEADERS = {
  "requestheader-username-headers": ["X-Remote-User"],
  "requestheader-uid-headers": ["X-Remote-Uid"],
  "requestheader-group-headers": ["X-Remote-Group"],
  "requestheader-extra-headers-prefix": ["X-Remote-Extra-"],
} as const;

/**
 * True for a header that a client may not send along, because backends would believe it. Some read an underscore in a
 * header's name as the hyphen (RFC 3875).
 */
export function isUserHeader(name: string): boolean {
  return name.replaceAll("_", "-").startsWith("x-remote-");
}

/** The user in those headers. */
export function userHeaders({ username, uid, groups, extra = {} }: User): Record<string, readonly string[]> {
  const extras = Object.entries(extra).map(([key, values]) => {
    return [`x-remote-extra-${escapeHeaderKey(key)}`, values.map(asHeader)] as const;
  });
  return {
    "x-remote-user": [asHeader(username)],
    ...(uid !== undefined && uid !== "" && { "x-remote-uid": [asHeader(uid)] }),
    ...(groups.length > 0 && { "x-remote-group": groups.map(asHeader) }),
    ...Object.fromEntries(extras),
  };
}

/** Headers are sent as Latin-1: the bytes of UTF-8, given so, arrive as such. Control characters cannot be sent. */
function asHeader(text: string): string {
  return Buffer.from(text.replaceAll(/\p{Cc}/gu, "?")).toString("latin1");
}

/** Escapes what no name of a header may have, as Go's clients do (client-go/transport/round_trippers.go). */
function escapeHeaderKey(key: string): string {
  const bytes = [...Buffer.from(key.toLowerCase())];
  const isPlain = (byte: number) => /[!#$&'*+\-.^_`|~0-9a-z]/.test(String.fromCharCode(byte));
  return bytes
    .map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0").toUpperCase()}`))
    .join("");
}
