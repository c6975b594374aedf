import { createHash } from "node:crypto";
import type { LibraryPackage } from "./image/fetch-libraries.ts";
import type { UsedPackage } from "./notices.ts";
import { ROOT } from "./places.ts";
import { runTool } from "./run-tool.ts";
import type { Target } from "./target.ts";

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

/** The part of CycloneDX that npm writes and that is read here. */
interface Bom {
  readonly metadata: { readonly component: Component; readonly tools: unknown };
  readonly components: readonly Component[];
  readonly dependencies: ReadonlyArray<{ readonly ref: string; readonly dependsOn: readonly string[] }>;
  readonly [field: string]: unknown;
}

interface SbomParts {
  readonly target: Target;
  readonly packages: readonly UsedPackage[];
  /** Packages of Debian in the image. */
  readonly libraries: readonly LibraryPackage[];
  readonly nodeVersion: string;
  /** Seconds since 1970. */
  readonly epoch: number;
}

/**
 * Computes the bill of materials as CycloneDX: what npm says of the lock file, but of the packages in the program only,
 * with Node.js, and without the time and the random number that npm writes. Throws where npm does not know a package.
 */
export function computeSbom({ target, packages, libraries, nodeVersion, epoch }: SbomParts): string {
  const all: Bom = JSON.parse(
    runTool("npm", ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"], { cwd: ROOT }),
  );
  const used = packages.map(({ name, version }) => {
    const found = all.components.find((component) => component.name === name && component.version === version);
    if (found === undefined) throw new Error(`package-lock.json does not know ${name} ${version}`);
    return { ...found, scope: "required", properties: [] };
  });
  const node = describeNode(nodeVersion);
  const components = [...used, node, ...libraries.map((library) => describeLibrary(library, target))];
  const { component } = all.metadata;
  const own = { ...component, type: "application", name: "nodelet" };
  const refs = new Set([...components.map((part) => part["bom-ref"]), own["bom-ref"]]);
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((name) => refs.has(name)) }))
    .map((entry) =>
      entry.ref === own["bom-ref"] ? { ...entry, dependsOn: [...entry.dependsOn, node["bom-ref"]] } : entry,
    );
  const serialNumber = `urn:uuid:${computeUuid(JSON.stringify([target, components]))}`;
  const timestamp = new Date(epoch * 1000).toISOString();
  const metadata = { timestamp, lifecycles: [{ phase: "build" }], tools: all.metadata.tools, component: own };
  return `${JSON.stringify({ ...all, serialNumber, metadata, components, dependencies }, undefined, 2)}\n`;
}

function describeNode(version: string): Component {
  return {
    "bom-ref": `node.js@${version}`,
    type: "platform",
    name: "node.js",
    version,
    scope: "required",
    purl: `pkg:generic/node.js@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: "MIT" } }],
  };
}

/** They are in the image alone; the other packages use those of the machine. */
function describeLibrary({ name, version }: LibraryPackage, { debian }: Target): Component {
  return {
    "bom-ref": `debian/${name}@${version}`,
    type: "library",
    name,
    version,
    scope: "optional",
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${debian}`,
  };
}

/** A UUID by name (RFC 9562, version 8): the same materials have the same one. */
function computeUuid(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
