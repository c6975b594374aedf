const MAX_PORT = 65_535;

/**
 * Parses the ports that a WebSocket request names. The runtime makes a channel for each of them; over SPDY each stream
 * names its own port. Errors have upstream's words (`NewV4Options` of k8s.io/cri-streaming, portforward/websocket.go).
 */
export function parsePorts(query: URLSearchParams): readonly number[] | string {
  const values = query.getAll("port");
  if (values.length === 0) return 'query parameter "port" is required';
  const ports: number[] = [];
  for (const value of values) {
    if (value === "") return 'query parameter "port" cannot be empty';
    for (const text of value.split(",")) {
      const problem = findSyntaxProblem(text);
      if (problem !== undefined) {
        return `unable to parse ${JSON.stringify(value)} as a port: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${problem}`;
      }
      if (Number(text) < 1) return `port ${JSON.stringify(value)} must be > 0`;
      ports.push(Number(text));
    }
  }
  return ports;
}

function findSyntaxProblem(text: string): string | undefined {
  if (!/^[0-9]+$/.test(text)) return "invalid syntax";
  return Number(text) > MAX_PORT ? "value out of range" : undefined;
}
