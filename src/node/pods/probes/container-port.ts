import type { Container } from "../../../api/gen/types.ts";

/** A port, or the reason why there is none, in upstream's words (`ResolveContainerPort`, pkg/probe/util.go). */
type ResolvedPort = { readonly port: number } | { readonly error: string };

/** Resolves a number, the name of one of the container's ports, or a number in quotes. */
export function resolveContainerPort(asked: number | string, container: Container): ResolvedPort {
  if (typeof asked === "number") return checkRange(asked);
  const named = container.ports?.find(({ name }) => name === asked);
  if (named !== undefined) return checkRange(named.containerPort);
  if (/^[+-]?\d+$/.test(asked)) return checkRange(Number(asked));
  return { error: `strconv.Atoi: parsing ${JSON.stringify(asked)}: invalid syntax` };
}

function checkRange(port: number): ResolvedPort {
  return port > 0 && port < 65_536 ? { port } : { error: `invalid port number: ${port}` };
}
