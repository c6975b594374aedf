import { createHash } from "node:crypto";
import { encodeProtobuf } from "../../api/protobuf/encode-protobuf.ts";
import { PROTOBUF_TYPE } from "../../api/protobuf/magic.ts";
import { trimRight } from "../../base/trim-right.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { discoveryContentType, negotiateDiscovery, negotiateOpenApiV2, OPENAPI_V2_PROTOBUF } from "./accept.ts";
import { describeAggregated } from "./aggregated-discovery.ts";
import { type ApiTable, type GroupVersion, groupPathOf, type JsonObject, listGroupVersions } from "./api-table.ts";
import { describeOpenApiV2, prepareOpenApiV2, type SwaggerDocument } from "./openapi-v2.ts";
import { encodeOpenApiV2 } from "./openapi-v2-protobuf.ts";
import { describeOpenApiIndex, describeOpenApiV3 } from "./openapi-v3.ts";
import { describeApiGroup, describeApiGroups, describeApiVersions, describeResources } from "./plain-discovery.ts";

/** A finished answer. */
export interface ApiDocument {
  readonly contentType: string;
  readonly body: Buffer;
  /** SHA-512 of the body, in upper-case hexadecimal. */
  readonly hash: string;
  /** The hash in quotes, as the ETag header wants it. */
  readonly etag: string;
}

/** The documents that describe the API. */
export interface ApiDescription {
  /**
   * The answer to a GET of the path (`/api`, `/apis`, `/apis/apps`, `/apis/apps/v1`, `/openapi/v2`, `/openapi/v3`,
   * `/openapi/v3/apis/apps/v1`; a slash at the end makes no difference); undefined for a path that is none of these.
   * Made when first asked for.
   */
  document(path: string, accept: string | undefined): ApiDocument | undefined;
  /**
   * Makes the parts of a document that takes a quarter of a second by itself, one for each step; none where the document
   * is there. Let others have their turn in between, and ask for the document afterwards.
   */
  prepare(path: string): Iterable<unknown>;
}

type Describe = () => JsonObject | undefined;

/** The documents of a table. Keep the result as long as the table is the same: each document is made once. */
export function describeApi(whole: ApiTable): ApiDescription {
  const foreign = new Set(whole.foreign?.map(groupPathOf));
  const isServed = (kind: ResourceKind) => {
    // A version that is stored and no longer served has a row without verbs.
    return kind.verbs.length + kind.subresources.length > 0 && !foreign.has(groupPathOf(kind));
  };
  const table = { ...whole, kinds: whole.kinds.filter(isServed) };
  const made = new Map<string, ApiDocument | undefined>();
  const groupVersions = listGroupVersions(table.kinds);

  function once(key: string, make: () => ApiDocument | undefined): ApiDocument | undefined {
    if (!made.has(key)) made.set(key, make());
    return made.get(key);
  }

  const foreignDocuments = new Map(whole.foreign?.map((at) => [groupPathOf(at), at.openApi?.v3]));
  const describedVersions = [...groupVersions, ...(whole.foreign ?? []).filter(({ openApi }) => openApi?.v3)];
  const openApiOf = (at: GroupVersion) => {
    const path = groupPathOf(at);
    return once(`/openapi/v3/${path}`, () => jsonDocument(foreignDocuments.get(path) ?? describeOpenApiV3(table, at)));
  };

  function openApiIndex(): ApiDocument | undefined {
    const hashes = describedVersions.map((at): [string, string] => [groupPathOf(at), openApiOf(at)?.hash ?? ""]);
    return jsonDocument(describeOpenApiIndex(new Map(hashes)));
  }

  function discoveryRoot(part: "core" | "groups", accept: string | undefined): ApiDocument | undefined {
    const form = negotiateDiscovery(accept);
    const plain = () => (part === "core" ? describeApiVersions(table.serverAddress) : describeApiGroups(table));
    if (form === "plain" || form === "protobuf") return plainly(part, accept, plain);
    return once(`${part} ${form}`, () => {
      return jsonDocument(describeAggregated(table, part, form), discoveryContentType(form));
    });
  }

  /** Answers paths without an aggregated form, and requests that do not ask for it. */
  function plainly(key: string, accept: string | undefined, describe: Describe): ApiDocument | undefined {
    if (negotiateDiscovery(accept) !== "protobuf") return once(key, () => jsonDocument(describe()));
    return once(`${key} protobuf`, () => {
      const content = describe();
      return content && finish(encodeProtobuf(content), PROTOBUF_TYPE);
    });
  }

  function openApiV2(accept: string | undefined): ApiDocument | undefined {
    if (negotiateOpenApiV2(accept) === "json")
      return once("/openapi/v2", () => finish(encodeSwagger(describeOpenApiV2(table)), "application/json"));
    const encode = () => finish(encodeOpenApiV2(describeOpenApiV2(table)), OPENAPI_V2_PROTOBUF);
    return once("/openapi/v2 protobuf", encode);
  }

  const unprepared = new Set(["/openapi/v2", "/openapi/v3"]);
  function* prepare(path: string): Generator<unknown> {
    const trimmed = trimRight(path, "/");
    if (!unprepared.has(trimmed)) return;
    if (trimmed === "/openapi/v3") for (const at of describedVersions) yield openApiOf(at);
    else for (const made of prepareOpenApiV2(table)) yield Object.values(made).map(textOfDefinition);
    unprepared.delete(trimmed);
  }

  return {
    prepare,
    document(path, accept) {
      const trimmed = trimRight(path, "/");
      if (trimmed === "/api") return discoveryRoot("core", accept);
      if (trimmed === "/apis") return discoveryRoot("groups", accept);
      if (trimmed === "/openapi/v2") return openApiV2(accept);
      if (trimmed === "/openapi/v3") return once(trimmed, openApiIndex);
      const schemaOf = describedVersions.find((at) => trimmed === `/openapi/v3/${groupPathOf(at)}`);
      if (schemaOf) return openApiOf(schemaOf);
      const resourcesOf = groupVersions.find((at) => trimmed === `/${groupPathOf(at)}`);
      if (resourcesOf) return plainly(trimmed, accept, () => describeResources(table.kinds, resourcesOf));
      const [, group] = /^\/apis\/([^/]+)$/.exec(trimmed) ?? [];
      const isGroup = (at: GroupVersion) => at.group === group;
      if (group === undefined || !(groupVersions.some(isGroup) || table.foreign?.some(isGroup))) return undefined;
      return plainly(trimmed, accept, () => describeApiGroup(table, group));
    },
  };
}

/** The texts of definitions. Few of them change with a CRD, and together they have megabytes. */
const definitionTexts = new WeakMap<object, string>();

function encodeSwagger({ definitions, ...rest }: SwaggerDocument): Buffer {
  const entries = Object.entries(definitions).map(([name, definition]) => {
    return `${JSON.stringify(name)}:${textOfDefinition(definition)}`;
  });
  return Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"definitions":{${entries.join(",")}}}`);
}

function textOfDefinition(definition: unknown): string {
  if (typeof definition !== "object" || definition === null) return JSON.stringify(definition);
  const known = definitionTexts.get(definition);
  if (known !== undefined) return known;
  const text = JSON.stringify(definition);
  definitionTexts.set(definition, text);
  return text;
}

function jsonDocument(content: JsonObject | undefined, contentType = "application/json"): ApiDocument | undefined {
  return content && finish(Buffer.from(JSON.stringify(content)), contentType);
}

function finish(body: Buffer, contentType: string): ApiDocument {
  const hash = createHash("sha512").update(body).digest("hex").toUpperCase();
  return { contentType, body, hash, etag: `"${hash}"` };
}
