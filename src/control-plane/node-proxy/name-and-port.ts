/** What a proxied object's name says besides the name: `https:pod:443`. */
export interface NameAndPort {
  /** As it is written; "" where it is not. */
  readonly scheme: "http" | "https" | "";
  readonly name: string;
  /** A number or a port's name; "" where there is none. */
  readonly port: string;
}

/** Undefined for what is none: apimachinery/pkg/util/net/port_split.go. */
export function splitNameAndPort(text: string): NameAndPort | undefined {
  const parts = text.split(":");
  if (parts.length > 3) return undefined;
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  if (name === "" || !(scheme === "" || scheme === "http" || scheme === "https")) return undefined;
  return { scheme, name, port };
}
