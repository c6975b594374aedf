/** The parts of a proxied object's name: `https:pod:443`. */
export interface NameAndPort {
  /** The scheme as it is written; "" where there is none. */
  readonly scheme: "http" | "https" | "";
  readonly name: string;
  /** A number or a port's name; "" where there is none. */
  readonly port: string;
}

/** Undefined for text of another form: apimachinery/pkg/util/net/port_split.go. */
export function splitNameAndPort(text: string): NameAndPort | undefined {
  const parts = text.split(":");
  if (parts.length > 3) return undefined;
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  if (name === "" || !(scheme === "" || scheme === "http" || scheme === "https")) return undefined;
  return { scheme, name, port };
}
