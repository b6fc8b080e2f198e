//! Settings from a JSON object, as other languages hand them over.

use crate::Error;
use magnon_learn::strict::nearest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reads the settings of a call from an object with a key for each parameter. An unknown key, or a value of the wrong
/// type, is an error that names the key, and what may have been meant.
pub fn from_json<T>(given: Map<String, Value>) -> Result<T, Error>
where
    T: Default + Serialize + DeserializeOwned,
{
    let failed = |error: serde_json::Error| Error::Argument(error.to_string());
    let known = match serde_json::to_value(T::default()).map_err(failed)? {
        Value::Object(known) => known,
        _ => Map::new(),
    };
    for (name, value) in &given {
        if !known.contains_key(name) {
            let near = nearest(name, known.keys().map(String::as_str));
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(Error::Argument(format!("{name} is no parameter of this call{near}")));
        }
        // By itself, so that what is wrong can be named.
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        let read = serde_json::from_value::<T>(Value::Object(alone));
        read.map_err(|error| Error::Argument(problem(name, &error.to_string())))?;
    }
    serde_json::from_value(Value::Object(given)).map_err(failed)
}

/// What is wrong with a value, in words for people.
fn problem(name: &str, words: &str) -> String {
    let quoted: Vec<&str> = words.split('`').skip(1).step_by(2).collect();
    match &quoted[..] {
        [word, known @ ..] if words.starts_with("unknown variant") => {
            let near = nearest(word, known.iter().copied());
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            format!("{name} is '{word}', but must be one of {}{near}", known.join(", "))
        }
        _ => {
            let words = words.replace("usize", "a whole number").replace("u64", "a whole number");
            format!("{name}: {}", words.replace("f64", "a number"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{OperatorSettings, TrainSettings};
    use serde_json::json;

    fn read<T: Default + Serialize + DeserializeOwned>(value: Value) -> Result<T, String> {
        let Value::Object(given) = value else { return Err("no object".to_owned()) };
        from_json(given).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (value, words) in [
            (json!({ "chage": 0.2 }), "chage is no parameter of this call; did you mean charge?"),
            (
                json!({ "epochs": "many" }),
                "epochs: invalid type: string \"many\", expected a whole",
            ),
            (json!({ "epochs": -1 }), "epochs: invalid value: integer `-1`"),
            (json!({ "kind": "laplacain" }), "did you mean laplacian?"),
            (json!({ "charge": "much" }), "charge: "),
            (json!({ "schedule": "sometimes" }), "schedule: 'sometimes' is no schedule"),
            (json!({ "coefficients": [1, "nan"] }), "coefficients: 'nan': it must be a finite"),
        ] {
            let error = read::<TrainSettings>(value).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn values_are_read_as_callers_write_them() {
        let given = json!({
            "charge": 0.25, "split": "60/20/20", "source": 1, "target": "to", "missing": "x,-9",
            "coefficients": [1, 0.5], "channels": ["x", "out"], "set": { "heads": 4, "other": "2" },
            "schedule": "step:100,0.5", "header": true, "epochs": 5,
        });
        let read: TrainSettings = read(given).unwrap();
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(written["charge"], "0.25");
        assert_eq!((&written["source"], &written["missing"]), (&json!("1"), &json!(["x", "-9"])));
        assert_eq!(
            (&written["channels"], &written["coefficients"]),
            (&json!("x,out"), &json!([1.0, 0.5]))
        );
        assert_eq!(
            (&written["set"], &written["epochs"]),
            (&json!({ "heads": 4, "other": 2 }), &json!(5))
        );
        assert_eq!(serde_json::from_value::<TrainSettings>(written).unwrap(), read);
        assert_eq!(self::read::<OperatorSettings>(json!({})).unwrap(), OperatorSettings::default());
    }
}
