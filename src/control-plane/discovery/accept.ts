import { PROTOBUF_TYPE } from "../../api/protobuf/magic.ts";
import type { AggregatedVersion } from "./aggregated-discovery.ts";

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** The media ranges of an Accept header, the most wanted first. */
function parseAccept(accept: string): MediaRange[] {
  const ranges = accept.split(",").flatMap((text) => {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    if (type === "") return [];
    const parameters = new Map(
      rest.map((part): [string, string] => {
        const [name = "", value = ""] = part.split("=").map((side) => side.trim());
        return [name.toLowerCase(), value];
      }),
    );
    return [{ type: type.toLowerCase(), parameters, quality: Number(parameters.get("q") ?? 1) }];
  });
  return ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
}

const JSON_TYPES = new Set(["application/json", "application/*", "*/*"]);

/** Plain in JSON, plain in protobuf, or aggregated, which is JSON. */
type DiscoveryForm = AggregatedVersion | "plain" | "protobuf";

/** The form of discovery with which `/api` and `/apis` answer; the plain one where no known form is asked for. */
export function negotiateDiscovery(accept: string | undefined): DiscoveryForm {
  for (const { type, parameters } of parseAccept(accept ?? "")) {
    const as = parameters.get("as");
    if (type === PROTOBUF_TYPE && as === undefined) return "protobuf";
    if (!JSON_TYPES.has(type)) continue;
    if (as === undefined) return "plain";
    const version = parameters.get("v");
    const isDiscovery = parameters.get("g") === "apidiscovery.k8s.io" && as === "APIGroupDiscoveryList";
    if (isDiscovery && (version === "v2" || version === "v2beta1")) return version;
  }
  return "plain";
}

/** The Content-Type by which a client knows the form that it got. */
export function discoveryContentType(form: AggregatedVersion): string {
  return `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`;
}

/** The protobuf form of OpenAPI v2. Clients ask for it with an `@` too, which is no legal media type to answer with. */
export const OPENAPI_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const OPENAPI_V2_PROTOBUF_ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/** The form with which `/openapi/v2` answers. kubectl reads only protobuf. */
export function negotiateOpenApiV2(accept: string | undefined): "json" | "protobuf" {
  for (const { type } of parseAccept(accept ?? "")) {
    if (type === OPENAPI_V2_PROTOBUF || type === OPENAPI_V2_PROTOBUF_ASKED) return "protobuf";
    if (JSON_TYPES.has(type)) return "json";
  }
  return "json";
}
