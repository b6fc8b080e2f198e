//! The calls of the workflow that ask something of an operator: what they give is read back from its JSON, and
//! a progress stops each of them.

#![allow(clippy::unwrap_used)] // helpers of tests

use magnon::Error;
use magnon::data::{Dataset, SyntheticConfig};
use magnon::denoise::DenoiseConfig;
use magnon::filter::FilterConfig;
use magnon::model::{MODELS, OperatorChoice};
use magnon::spectrum::{
    DensityConfig, EigenmapConfig, FrustrationConfig, Select, SpectrumConfig, density, spectrum,
};
use magnon::workflow::{
    self, BuiltOperator, FrequencyConfig, Progress, ResponseConfig, Signal, operator,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

fn dataset() -> Dataset {
    SyntheticConfig::demo().dataset("demo").unwrap()
}

fn built(dataset: &Dataset, charge: &str) -> BuiltOperator {
    let charge = charge.parse().unwrap();
    let choice = OperatorChoice { charge, ..OperatorChoice::low_pass() };
    operator(dataset, None, &choice, &()).unwrap()
}

/// Reads a result back from its JSON and gives its keys.
fn keys<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(report: &T) -> Vec<String> {
    let value = serde_json::to_value(report).unwrap();
    let keys = value.as_object().unwrap().keys().cloned().collect();
    assert_eq!(&serde_json::from_value::<T>(value).unwrap(), report);
    keys
}

#[test]
fn results_are_read_back_from_their_json() {
    let dataset = dataset();
    let found = built(&dataset, "auto");
    assert_eq!(found.report.operator.charge_text, "1/3");
    assert!(found.report.operator.charge_evidence.is_some());
    assert_eq!(keys(&found.report).last().map(String::as_str), Some("seconds"));

    let config = SpectrumConfig { select: Select::Smallest(4), ..Default::default() };
    let pairs = workflow::spectrum(&found, &config, &()).unwrap();
    let plain = spectrum(&found.operator, &config, &()).unwrap();
    assert_eq!(pairs.report.eigenvalues, plain.eigenvalues);
    assert!(pairs.vectors.is_none() && keys(&pairs.report).contains(&"eigenvalues".to_owned()));

    let config = DensityConfig { moments: 20, points: 30, ..Default::default() };
    let report = workflow::density(&found, &config, &()).unwrap();
    assert_eq!(report.density, density(&found.operator, &config, &()).unwrap());
    let (at, peak) = report.density.peak();
    assert!(report.density.density.iter().all(|&d| d <= peak) && at.abs() <= 1.0);
    assert!(keys(&report).contains(&"cumulative".to_owned()));

    let config = FrustrationConfig { points: 5, ..Default::default() };
    let report = workflow::frustration(&dataset, &config, &()).unwrap();
    assert_eq!(keys(&report)[..3], ["name", "nodes", "components"]);

    let map =
        workflow::eigenmap(&dataset, &OperatorChoice::default(), &Default::default(), &()).unwrap();
    assert_eq!(map.rows(dataset.labels.as_ref()).next().unwrap().len(), map.header().len());
    assert!(keys(&map.report).contains(&"phases".to_owned()));

    let features = dataset.features.as_ref().unwrap();
    let filtered = workflow::propagate(&found, features, &FilterConfig::default(), &()).unwrap();
    assert_eq!(filtered.report.dtype, "complex64");
    assert!(keys(&filtered.report).contains(&"coefficients".to_owned()));

    let report = workflow::response(&found, &ResponseConfig::default()).unwrap();
    assert_eq!((report.lambda.len(), report.response[200]), (201, 1.0));
    keys(&report);
    let responses = workflow::frequency_response(&found, &FrequencyConfig::default(), &()).unwrap();
    assert_eq!(responses.report.curves[0].charge_text, "1/3");
    assert_eq!(responses.report.rows().count(), 600);
    keys(&responses.report);
}

#[test]
fn signals_are_real_where_they_can_be() {
    let dataset = dataset();
    let run = |charge: &str| {
        let choice = OperatorChoice { charge: charge.parse().unwrap(), ..Default::default() };
        workflow::denoise(&dataset, None, &choice, &DenoiseConfig::default(), &()).unwrap()
    };
    let (real, complex) = (run("0"), run("1/3"));
    assert!(matches!(&real.signal, Signal::Real(x) if x.cols() == 16));
    assert!(matches!(&complex.signal, Signal::Complex(x) if x.rows() == 600));
    for done in [real, complex] {
        assert_eq!(done.energies_after.iter().sum::<f64>(), done.report.energy_after);
        assert!(done.report.energy_after < done.report.energy_before);
        keys(&done.report);
    }
}

#[test]
fn models_are_listed_and_told_apart() {
    assert_eq!(workflow::models().models.len(), MODELS.len());
    for info in MODELS {
        assert_eq!(workflow::model(info.name).unwrap().config.model.info().name, info.name);
    }
    assert!(workflow::model("no-such-model").is_err());
}

#[test]
fn wrong_arguments_are_told_from_wrong_data() {
    let dataset = dataset();
    let found = built(&dataset, "0");
    let points = ResponseConfig { points: 1, ..Default::default() };
    assert!(workflow::response(&found, &points).unwrap_err().is_argument());
    let order = FilterConfig { order: Some(0), ..Default::default() };
    let features = dataset.features.as_ref().unwrap();
    assert!(workflow::propagate(&found, features, &order, &()).unwrap_err().is_argument());
    let config = SpectrumConfig { select: Select::Smallest(601), ..Default::default() };
    assert!(!workflow::spectrum(&found, &config, &()).unwrap_err().is_argument());
    // The pass is left open, and there is no split to choose it by.
    let error = operator(&dataset, None, &OperatorChoice::default(), &()).unwrap_err();
    assert!(!error.is_argument() && error.to_string().contains("needs a split"), "{error}");
}

/// Stops a call, and keeps what it was told.
#[derive(Default)]
struct Stopping {
    stop: AtomicBool,
    remarks: Mutex<Vec<String>>,
}

impl Progress for Stopping {
    fn remark(&self, text: &str) {
        self.remarks.lock().unwrap().push(text.to_owned());
    }
    fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }
}

#[test]
fn every_long_call_can_be_stopped() {
    let dataset = dataset();
    let found = built(&dataset, "1/3");
    let stop = Stopping { stop: AtomicBool::new(true), ..Default::default() };
    let choice = OperatorChoice { charge: "1/3".parse().unwrap(), ..OperatorChoice::low_pass() };
    let few = |count| SpectrumConfig {
        select: Select::Smallest(count),
        dense_up_to: 0,
        ..Default::default()
    };
    let features = dataset.features.as_ref().unwrap();
    let exact =
        FilterConfig { kind: magnon::filter::FilterKind::Ppr, exact: true, ..Default::default() };
    let (density, curve) = (DensityConfig::default(), FrustrationConfig::default());
    let outcomes = [
        operator(&dataset, None, &OperatorChoice::low_pass(), &stop).map(drop),
        workflow::spectrum(&found, &few(3), &stop).map(drop),
        workflow::spectrum(&found, &SpectrumConfig::default(), &stop).map(drop),
        workflow::density(&found, &density, &stop).map(drop),
        workflow::frustration(&dataset, &curve, &stop).map(drop),
        workflow::eigenmap(&dataset, &choice, &EigenmapConfig::default(), &stop).map(drop),
        workflow::propagate(&found, features, &FilterConfig::default(), &stop).map(drop),
        workflow::propagate(&found, features, &exact, &stop).map(drop),
        workflow::denoise(&dataset, None, &choice, &DenoiseConfig::default(), &stop).map(drop),
        workflow::frequency_response(&found, &FrequencyConfig::default(), &stop).map(drop),
    ];
    for (i, outcome) in outcomes.iter().enumerate() {
        assert!(matches!(outcome, Err(Error::Stopped)), "{i}: {outcome:?}");
    }
}

#[test]
fn a_charge_without_effect_is_remarked() {
    let dataset: SyntheticConfig = "cyclic:mutual=1,direction=0.5,density=0".parse().unwrap();
    let dataset = SyntheticConfig { seed: 1, ..dataset }.dataset("pairs").unwrap();
    let heard = Stopping::default();
    let choice = OperatorChoice { charge: "1/4".parse().unwrap(), ..OperatorChoice::low_pass() };
    operator(&dataset, None, &choice, &heard).unwrap();
    workflow::denoise(&dataset, None, &choice, &DenoiseConfig::default(), &heard).unwrap();
    let remarks = heard.remarks.lock().unwrap();
    assert_eq!(remarks.len(), 2);
    assert!(remarks.iter().all(|remark| remark.contains("the graph is symmetric")));
}
