import type { RuleChain, RuleFragment, RuleSetDeclaration } from "../rules/fragment.ts";
import { composeKeyNumber } from "../rules/key-number.ts";
import { type ChosenEndpoint, endpointKeyOf } from "./port-endpoints.ts";
import { nameOfEndpoint, nameOfPort, nameOfService } from "./rule-names.ts";
import type { PlannedPort } from "./service-port.ts";

/** The part of a fragment by which a port chooses among its endpoints. */
type Choice = Required<RuleFragment>;

/**
 * Tells the endpoints of a service apart in the set of its clients. The same endpoint has the same number as long as it is
 * there, and no other one gets a number that was given: a client of an endpoint that was away for a while chose another.
 */
export type NumberEndpoint = (name: string) => number;

const ADDRESS_TYPES = { ip: "ipv4_addr", ip6: "ipv6_addr" } as const;
/** So many clients a service remembers; those beyond are sent anywhere each time. */
const MAX_CLIENTS = 1_048_576;

/**
 * Computes the chain that sends clients to one of the endpoints, any of them. Its choices are a named map: of a map
 * within a rule the kernel looks at the whole transaction, which takes too long where there are thousands.
 */
export function computeChoice(
  way: "cluster" | "local",
  port: PlannedPort,
  endpoints: readonly ChosenEndpoint[],
): Choice {
  const { family, protocol } = port;
  const name = `${way}-${nameOfPort(port)}`;
  const map = `endpoints-${name}`;
  const [first] = endpoints;
  if (first === undefined) return NO_CHOICE;
  const translate = `meta l4proto ${protocol} dnat`;
  if (endpoints.length === 1) return chainOnly({ name, rules: [`${translate} to ${addressAndPort(first)}`] });
  return {
    sets: [{ kind: "map", name: map, type: `typeof ${indexBelow(2)} : ${family} daddr . th dport;` }],
    chains: [{ name, rules: [`${translate} ${family} addr . port to ${indexBelow(endpoints.length)} map @${map}`] }],
    elements: endpoints.map(({ ip, port: number }, index) => ({
      set: map,
      key: `${index}`,
      value: `${ip} . ${number}`,
    })),
  };
}

/** An endpoint to which clients come back. */
interface StickyEndpoint extends ChosenEndpoint {
  readonly chain: string;
  /** The key in the set of known clients: who calls, and this endpoint. */
  readonly client: string;
}

/**
 * Computes the chains of a port whose clients go where they went before, one for each endpoint and one for each way. The
 * service has one set of clients for all of its endpoints: the kernel goes through all sets for each that a rule names.
 */
export function computeStickyChoices(
  port: PlannedPort,
  ways: Readonly<Record<"cluster" | "local", readonly ChosenEndpoint[]>>,
  numberOf: NumberEndpoint,
): Choice {
  const known = new Map<string, StickyEndpoint>();
  for (const endpoint of [...ways.cluster, ...ways.local]) {
    const key = endpointKeyOf(endpoint);
    if (!known.has(key)) known.set(key, stickyEndpoint(port, endpoint, numberOf));
  }
  const sticky = (endpoints: readonly ChosenEndpoint[]) => {
    return endpoints.flatMap((endpoint) => known.get(endpointKeyOf(endpoint)) ?? []);
  };
  const cluster = stickyChoice("cluster", port, sticky(ways.cluster));
  const local = stickyChoice("local", port, sticky(ways.local));
  const chains = [...known.values()].map((one) => stickyChain(port, one));
  return { ...NO_CHOICE, chains: [...chains, ...cluster.chains, ...local.chains] };
}

/** The set of a service's clients, each with the number of its endpoint. */
export function computeClientSet(port: PlannedPort): RuleSetDeclaration {
  const type = `type ${ADDRESS_TYPES[port.family]} . mark; flags dynamic,timeout; size ${MAX_CLIENTS};`;
  return { kind: "set", name: clientSetOf(port), type, isDynamic: true };
}

const NO_CHOICE: Choice = { sets: [], chains: [], elements: [] };

const chainOnly = (chain: RuleChain): Choice => ({ ...NO_CHOICE, chains: [chain] });
const indexBelow = (count: number) => `numgen random mod ${count}`;
const clientSetOf = (port: PlannedPort) => `clients-${nameOfService(port)}`;

function stickyEndpoint(port: PlannedPort, endpoint: ChosenEndpoint, numberOf: NumberEndpoint): StickyEndpoint {
  const name = nameOfEndpoint(port, endpoint);
  const client = `${port.family} saddr . ${composeKeyNumber(numberOf(name))}`;
  return { ...endpoint, chain: `endpoint-${name}`, client };
}

function stickyChain(port: PlannedPort, { chain, client, ...endpoint }: StickyEndpoint): RuleChain {
  const remember = `update @${clientSetOf(port)} { ${client} timeout ${port.affinitySeconds}s }`;
  return { name: chain, rules: [remember, `meta l4proto ${port.protocol} dnat to ${addressAndPort(endpoint)}`] };
}

/**
 * A client that is known goes where it went before, another one to any endpoint with the same chance. No map of verdicts
 * does that: nft of Debian 11 makes none that is chosen from by chance.
 */
function stickyChoice(way: "cluster" | "local", port: PlannedPort, endpoints: readonly StickyEndpoint[]): Choice {
  const clients = clientSetOf(port);
  const known = endpoints.map(({ chain, client }) => `${client} @${clients} goto ${chain}`);
  const others = endpoints.map(({ chain }, index) => {
    const left = endpoints.length - index;
    return left === 1 ? `goto ${chain}` : `${indexBelow(left)} 0 goto ${chain}`;
  });
  if (endpoints.length === 0) return NO_CHOICE;
  return chainOnly({
    name: `${way}-${nameOfPort(port)}`,
    rules: endpoints.length === 1 ? others : [...known, ...others],
  });
}

function addressAndPort({ ip, port }: ChosenEndpoint): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
