import { UP_API_VERSION, UP_KIND } from "./up-configuration.ts";
import { UP_SETTINGS, type UpSetting } from "./up-settings.ts";

/** The name of the file with the schema, which lies beside the program. */
export const UP_SCHEMA_FILE = "up-v1alpha1.schema.json";

/** Computes the JSON schema of the configuration file, by which editors complete and check it. */
export function computeUpSchema(): object {
  const properties = UP_SETTINGS.map((setting) => [
    setting.field,
    { description: describe(setting), ...typeOf(setting) },
  ]);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: UP_KIND,
    description: "The settings of nodelet up",
    type: "object",
    required: ["apiVersion", "kind"],
    additionalProperties: false,
    properties: {
      apiVersion: { const: UP_API_VERSION },
      kind: { const: UP_KIND },
      ...Object.fromEntries(properties),
    },
  };
}

/** What a setting is, in the words of its flag; of `--no-…` the flag says what false does. */
function describe({ flags, about }: UpSetting): string {
  return flags.startsWith("--no-") ? `false: ${about}` : about;
}

function typeOf(setting: UpSetting): object {
  const preset = setting.preset === undefined ? {} : { default: setting.preset };
  switch (setting.kind) {
    case "switch":
      return { type: "boolean", ...preset };
    case "number":
      return { type: "integer", minimum: setting.least, maximum: setting.most, ...preset };
    case "choice":
      return { enum: setting.choices, ...preset };
    case "list":
      return { type: "array", items: { type: "string" }, ...preset };
    case "text":
    case "path":
      return { type: "string", minLength: 1, ...preset };
  }
}
