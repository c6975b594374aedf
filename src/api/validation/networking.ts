import type { FieldError } from "../field-error.ts";
import type { HostAlias, PodDNSConfig, PodSpec } from "../gen/types.ts";
import { checkDnsLabel, checkDnsSubdomain, checkUnderscoredSubdomain, isIpAddress } from "./names.ts";
import { each, forbidden, invalid, invalidEach, oneOf, required } from "./problems.ts";

const MAX_NAMESERVERS = 3;
const MAX_SEARCH_PATHS = 32;
const MAX_SEARCH_CHARACTERS = 2048;
/** The kernel's limit for a hostname. */
const MAX_HOSTNAME_LENGTH = 64;

/** Validates the pod's names, its resolver and its hosts file. */
export function validateNetworking(spec: PodSpec): FieldError[] {
  return [
    ...oneOf("spec.dnsPolicy", spec.dnsPolicy, ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]),
    ...validateDnsConfig("spec.dnsConfig", spec.dnsConfig, spec.dnsPolicy),
    ...each("spec.hostAliases", spec.hostAliases, validateHostAlias),
    ...validateHostnames(spec),
  ];
}

function validateDnsConfig(path: string, config: PodDNSConfig | undefined, policy: string | undefined): FieldError[] {
  if (!config) return policy === "None" ? [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")] : [];
  const { nameservers = [], searches = [], options } = config;
  const errors: FieldError[] = [];
  if (policy === "None" && nameservers.length === 0) {
    errors.push(required(`${path}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"));
  }
  if (nameservers.length > MAX_NAMESERVERS) {
    errors.push(invalid(`${path}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`));
  }
  errors.push(...each(`${path}.nameservers`, nameservers, (address, place) => validateIp(place, address)));
  if (searches.length > MAX_SEARCH_PATHS) {
    errors.push(invalid(`${path}.searches`, searches, `must not have more than ${MAX_SEARCH_PATHS} search paths`));
  }
  if (searches.join(" ").length > MAX_SEARCH_CHARACTERS) {
    const rule = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    errors.push(invalid(`${path}.searches`, searches, rule));
  }
  errors.push(...each(`${path}.searches`, searches, validateSearch));
  errors.push(
    ...each(`${path}.options`, options, ({ name = "" }, place) =>
      name === "" ? [required(place, "must not be empty")] : [],
    ),
  );
  return errors;
}

/** Validates a domain with upstream's exceptions: a lone dot, a trailing dot and underscores are allowed. */
function validateSearch(search: string, path: string): FieldError[] {
  if (search === ".") return [];
  const domain = search.endsWith(".") ? search.slice(0, -1) : search;
  return invalidEach(path, domain, checkUnderscoredSubdomain(domain));
}

function validateIp(path: string, address: string): FieldError[] {
  return isIpAddress(address)
    ? []
    : [invalid(path, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
}

function validateHostAlias({ ip, hostnames }: HostAlias, path: string): FieldError[] {
  return [
    ...validateIp(`${path}.ip`, ip),
    ...each(`${path}.hostnames`, hostnames, (name, place) => invalidEach(place, name, checkDnsSubdomain(name))),
  ];
}

function validateHostnames({
  hostname = "",
  subdomain = "",
  hostnameOverride,
  hostNetwork,
  setHostnameAsFQDN,
}: PodSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (hostname !== "") errors.push(...invalidEach("spec.hostname", hostname, checkDnsLabel(hostname)));
  if (subdomain !== "") errors.push(...invalidEach("spec.subdomain", subdomain, checkDnsLabel(subdomain)));
  if (hostnameOverride === undefined) return errors;
  const path = "spec.hostnameOverride";
  errors.push(...invalidEach(path, hostnameOverride, checkDnsSubdomain(hostnameOverride)));
  if (hostnameOverride.length > MAX_HOSTNAME_LENGTH) {
    errors.push(invalid(path, hostnameOverride, `must be no more than ${MAX_HOSTNAME_LENGTH} bytes`));
  }
  if (hostNetwork) errors.push(forbidden(path, "may not be set when hostNetwork is true"));
  if (setHostnameAsFQDN) errors.push(forbidden(path, "may not be set when setHostnameAsFQDN is true"));
  return errors;
}
