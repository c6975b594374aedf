import type { FieldError } from "../../../api/field-error.ts";
import type { CSINode, CSINodeDriver } from "../../../api/gen/types.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import { duplicate, each, invalid, invalidEach, notNegative, required } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { validateCsiDriverName } from "../rules/csi-driver-name.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";

const MAX_NODE_ID_BYTES = 256;

export const csiNodeKind = defineKind({
  group: "storage.k8s.io",
  kind: "CSINode",
  plural: "csinodes",
  namespaced: false,
  strategy: strategyOf("CSINode", {
    needsResourceVersion: true,
    returnsDeleted: true,
    validate: ({ spec }) => validateDrivers("spec.drivers", spec.drivers),
    validateUpdate: validateChange,
  }),
});

function validateDrivers(path: string, drivers: readonly CSINodeDriver[]): FieldError[] {
  const names = new Set<string>();
  return each(path, drivers, (driver, at) => {
    const { name, nodeID, allocatable, topologyKeys = [] } = driver;
    const rule = `must be ${MAX_NODE_ID_BYTES} characters or less`;
    const errors = [
      ...validateCsiDriverName(`${at}.name`, name),
      ...(nodeID === "" ? [required(`${at}.nodeID`)] : []),
      ...(Buffer.byteLength(nodeID) > MAX_NODE_ID_BYTES ? [invalid(`${at}.nodeID`, nodeID, rule)] : []),
      ...notNegative(`${at}.allocatable.count`, allocatable?.count),
      ...(names.has(name) ? [duplicate(`${at}.name`, name)] : []),
      ...validateTopologyKeys(at, topologyKeys),
    ];
    names.add(name);
    return errors;
  });
}

/** The problems of topology keys. Their messages name the driver, as upstream's do. */
function validateTopologyKeys(path: string, keys: readonly string[]): FieldError[] {
  const seen = new Set<string>();
  return keys.flatMap((key) => {
    const errors = [
      ...(key === "" ? [required(path)] : []),
      ...(seen.has(key) ? [duplicate(path, key)] : []),
      ...invalidEach(path, key, checkQualifiedName(key)),
    ];
    seen.add(key);
    return errors;
  });
}

/**
 * The problems of an update. Drivers may be added and removed; an existing one may change only the number of volumes
 * that it takes.
 */
function validateChange({ spec }: CSINode, { spec: current }: CSINode): FieldError[] {
  return current.drivers.flatMap((before) => {
    const after = spec.drivers.find(({ name }) => name === before.name);
    const identityOf = ({ allocatable: _changeable, ...identity }: CSINodeDriver) => identity;
    return after ? immutable("spec.drivers", identityOf(after), identityOf(before)) : [];
  });
}
