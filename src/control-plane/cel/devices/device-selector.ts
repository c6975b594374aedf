import type { Device, DeviceAttribute, DeviceCapacity } from "../../../api/gen/types.ts";
import { parseQuantity } from "../../../api/quantity.ts";
import type { DeclaredSize } from "../estimate/sizes.ts";
import { parseSemver, QUANTITY } from "../functions/kubernetes.ts";
import { compileExpression, estimateExpression } from "../program.ts";
import * as types from "../types.ts";
import { type CelType, formatType, isDyn } from "../types.ts";
import { type CelValue, celMap, failure, kindOf, type MapValue } from "../values.ts";

const { BOOL, DYN, STRING } = types;

/** What a selector knows of a device: two maps each of its attributes and capacities, by domain and by name. */
const VARIABLES: ReadonlyMap<string, CelType> = new Map([
  [
    "device",
    {
      kind: "object",
      name: "kubernetes.DRADevice",
      fields: new Map([
        ["driver", STRING],
        ["allowMultipleAllocations", BOOL],
        ["attributes", types.mapType(STRING, types.mapType(STRING, DYN))],
        ["capacity", types.mapType(STRING, types.mapType(STRING, QUANTITY))],
      ]),
    },
  ],
]);

const MAX_NAMES = 32;
const DOMAIN = { max: 63 };
const IDENTIFIER = { max: 32 };
/** A text or version of an attribute has at most so many characters, whatever the attribute's name. */
const ATTRIBUTE = { max: 64 };

/** How large a device can be, as upstream declares it. */
const SIZES: DeclaredSize = {
  max: 0,
  fields: new Map<string, DeclaredSize>([
    ["driver", { max: 63 }],
    ["allowMultipleAllocations", { max: 1 }],
    ["attributes", { max: MAX_NAMES, keys: DOMAIN, items: attributesSize() }],
    ["capacity", { max: MAX_NAMES, keys: DOMAIN, items: { max: MAX_NAMES, keys: IDENTIFIER, items: { max: 0 } } }],
  ]),
};

function attributesSize(): DeclaredSize {
  return { max: MAX_NAMES, keys: IDENTIFIER, items: ATTRIBUTE, fields: { get: () => ATTRIBUTE } };
}

/** The most that a selector, which compiles, costs for one device. */
export function estimateDeviceSelector(text: string): number {
  return estimateExpression(text, VARIABLES, SIZES) ?? 0;
}

/** An expression that selects devices. */
export interface DeviceSelectorProgram {
  /** Says whether it selects the device, or why it cannot tell, in cel-go's words. */
  select(device: MapValue): { readonly selected: boolean | { readonly problem: string }; readonly cost: number };
}

/** Compiles a selector (`dynamic-resource-allocation/cel`), or says in upstream's words why it is none. */
export function compileDeviceSelector(text: string): DeviceSelectorProgram | { readonly problem: string } {
  const program = compileExpression(text, VARIABLES);
  if ("problem" in program) return { problem: `compilation failed: ${program.problem}` };
  if (program.type.kind !== "bool" && !isDyn(program.type)) {
    return { problem: `must evaluate to bool or the unknown type, not ${formatType(program.type)}` };
  }
  return {
    select(device) {
      const result = program.evaluate((name) => (name === "device" ? device : undefined));
      const { cost } = result;
      if (result.outcome !== "value") return { selected: { problem: result.message }, cost };
      if (typeof result.value === "boolean") return { selected: result.value, cost };
      return {
        selected: { problem: `CEL result of type ${kindOf(result.value)} could not be converted to bool` },
        cost,
      };
    },
  };
}

/** The device as selectors see it, made once for all of them. What has no domain of its own is in the driver's. */
export function selectableDevice(driver: string, { attributes = {}, capacity = {} }: Device): MapValue {
  return celMap([
    ["driver", driver],
    ["allowMultipleAllocations", false],
    ["attributes", byDomain(driver, attributes, attributeValue)],
    ["capacity", byDomain(driver, capacity, capacityValue)],
  ]);
}

const NO_ENTRIES = celMap([]);

/** The entries by domain and name. A domain that has none is an empty map, so that selectors need not ask for it. */
function byDomain<Entry>(driver: string, entries: Readonly<Record<string, Entry>>, read: (entry: Entry) => CelValue) {
  const domains = new Map<string, Array<readonly [string, CelValue]>>();
  for (const [name, entry] of Object.entries(entries)) {
    const slash = name.indexOf("/");
    const domain = slash === -1 ? driver : name.slice(0, slash);
    const known = domains.get(domain) ?? [];
    domains.set(domain, known);
    known.push([name.slice(slash + 1), read(entry)]);
  }
  const map = celMap([...domains].map(([domain, known]) => [domain, celMap(known)] as const));
  return { ...map, find: (key: CelValue) => map.find(key) ?? NO_ENTRIES };
}

function attributeValue(attribute: DeviceAttribute): CelValue {
  if (attribute.int !== undefined) return BigInt(attribute.int);
  if (attribute.version !== undefined) return parseSemver(attribute.version) ?? failure("no semantic version");
  return attribute.bool ?? attribute.string ?? failure("unsupported attribute value");
}

function capacityValue({ value }: DeviceCapacity): CelValue {
  const quantity = parseQuantity(value);
  return quantity === undefined ? failure("no quantity") : { kind: "quantity", nanos: quantity.nanos };
}
