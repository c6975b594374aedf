import type { FieldError } from "../../api/field-error.ts";
import type { CustomResourceColumnDefinition } from "../../api/gen/types.ts";
import { invalid, invalidEach, required } from "../../api/validation/problems.ts";

const COLUMN_TYPES = "boolean,date,integer,number,string";
const COLUMN_FORMATS = "byte,date,date-time,double,float,int32,int64,password";

/** The problems of a column. */
export function validateColumn(column: CustomResourceColumnDefinition, path: string): FieldError[] {
  const { name, type, format = "", jsonPath } = column;
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(`${path}.name`));
  if (type === "") errors.push(required(`${path}.type`, `must be one of ${COLUMN_TYPES}`));
  else if (!COLUMN_TYPES.split(",").includes(type)) {
    errors.push(invalid(`${path}.type`, type, `must be one of ${COLUMN_TYPES}`));
  }
  if (format !== "" && !COLUMN_FORMATS.split(",").includes(format)) {
    errors.push(invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS}`));
  }
  if (jsonPath === "") errors.push(required(`${path}.JSONPath`));
  else errors.push(...invalidEach(`${path}.JSONPath`, jsonPath, checkSimplePath(jsonPath)));
  return errors;
}

/** The problems of a path that must start with a dot. */
function checkSimplePath(path: string): string[] {
  return path.startsWith(".") ? [] : ["must be a simple json path starting with ."];
}
