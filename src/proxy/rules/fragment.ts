/** The address families, by nftables' names. Each has a table of its own. */
export type AddressFamily = "ip" | "ip6";

export const ADDRESS_FAMILIES: readonly AddressFamily[] = ["ip", "ip6"];

/** A chain with its rules, each in nftables' language without the leading `add rule`. */
export interface RuleChain {
  readonly name: string;
  /**
   * Where the kernel enters the chain, such as `type nat hook prerouting priority dstnat; policy accept;`. Default: other
   * chains jump to it.
   */
  readonly hook?: string;
  readonly rules: readonly string[];
}

/** A named set or map. */
export interface RuleSetDeclaration {
  readonly kind: "set" | "map";
  readonly name: string;
  /** The declaration between the braces, such as `type ipv4_addr . inet_proto . inet_service : verdict;`. */
  readonly type: string;
  /** True for a set whose elements the kernel adds by itself. */
  readonly isDynamic?: true;
}

/** An element of a named set, or of a map where it has a value. */
export interface RuleElement {
  readonly set: string;
  readonly key: string;
  readonly value?: string;
}

/**
 * The part of a table that belongs to one object, such as a service. A chain and a set belong to one fragment only. An
 * element may be in several, and the fragment whose key sorts first then decides its value. The fragment of the table's
 * own declarations must be there before others refer to them.
 */
export interface RuleFragment {
  readonly sets?: readonly RuleSetDeclaration[];
  readonly chains?: readonly RuleChain[];
  readonly elements?: readonly RuleElement[];
}

/** The fragments that are new or different, by key; undefined for one that is gone. */
export type FragmentChanges = ReadonlyMap<string, RuleFragment | undefined>;
