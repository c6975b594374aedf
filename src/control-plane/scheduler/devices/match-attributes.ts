import type { DeviceAttribute, DeviceConstraint } from "../../../api/gen/types.ts";
import type { PooledDevice } from "./device-pools.ts";
import type { WantedDevices } from "./wanted-devices.ts";

/** Holds the devices of a claim to its constraints, one after the other. */
export interface ClaimConstraints {
  /** Adds a device, and returns how to take it back; undefined when it does not fit to those that were added. */
  add(wanted: WantedDevices, device: PooledDevice): (() => void) | undefined;
}

/** The constraints of a claim: devices of the named requests, or of all, have the same value of an attribute. */
export function createConstraints(constraints: readonly DeviceConstraint[] = []): ClaimConstraints {
  const kept = constraints.map(({ requests = [], matchAttribute = "" }) => {
    const values: string[] = [];
    return { requests: new Set(requests), attribute: matchAttribute, values };
  });
  return {
    add({ request, name }, device) {
      const concerned = kept.filter(({ requests }) => {
        return requests.size === 0 || requests.has(request) || requests.has(name);
      });
      const added: string[][] = [];
      const takeBack = () => {
        for (const values of added) values.pop();
      };
      for (const { attribute, values } of concerned) {
        const value = attributeTextOf(device, attribute);
        if (value === undefined || (values.length > 0 && values[0] !== value)) {
          takeBack();
          return undefined;
        }
        values.push(value);
        added.push(values);
      }
      return takeBack;
    },
  };
}

/** The attribute's value with its type, as text. An attribute without a domain belongs to the driver's. */
function attributeTextOf({ driver, device }: PooledDevice, attribute: string): string | undefined {
  const { attributes = {} } = device;
  const slash = attribute.indexOf("/");
  const own = attribute.slice(0, slash) === driver ? attribute.slice(slash + 1) : attribute;
  const found = [attribute, own].find((name) => Object.hasOwn(attributes, name));
  return found === undefined ? undefined : textOf(attributes[found]);
}

function textOf({ string, int, bool, version }: DeviceAttribute = {}): string | undefined {
  const [entry] = Object.entries({ string, int, bool, version }).filter(([, value]) => value !== undefined);
  return entry && `${entry[0]} ${entry[1]}`;
}
