//! Data sets: read from files, generated, or made of arrays.

use crate::arrays::{dense, floats, indices, line, table};
use crate::errors::Failure;
use crate::fetch::local;
use crate::matrices::{Edges, Rules, sparse};
use crate::settings::Asked;
use magnon::data::{
    self, FeatureNorm, Features, Labels, MadeFeatures, NodeNames, Reading, Scaling, Split,
};
use magnon::graph::{Built, Duplicates, SelfLoops};
use magnon::settings::{DataSettings, GenerateSettings};
use magnon::train::DataConfig;
use magnon::workflow::make_features;
use magnon::workflow::{choose_split, generate, info, read_dataset};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Said where a split has no test nodes.
const UNTESTED: &str = "there are no test nodes: what is told of the test is of the validation nodes, and looks too good";

/// A graph with what is known about its nodes.
#[pyclass(frozen, module = "magnon._magnon")]
pub struct Dataset {
    pub inner: Arc<data::Dataset>,
    /// Where it was read from, if it was.
    pub config: Option<DataConfig>,
}

impl Dataset {
    fn new(inner: data::Dataset, config: Option<DataConfig>) -> Self {
        Self { inner: Arc::new(inner), config }
    }
}

/// A choice by its word, as the command line writes it.
fn choice<T: DeserializeOwned>(word: &str, what: &str) -> PyResult<T> {
    serde_json::from_value(word.into())
        .map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

#[pymethods]
impl Dataset {
    /// Reads a folder, file or public data set, or generates one.
    #[staticmethod]
    #[pyo3(signature = (source, keywords, watch=None))]
    fn load(
        py: Python<'_>,
        source: String,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let asked = Asked::<DataSettings>::read(py, &keywords, watch)?;
        let (mut settings, seed) = (asked.settings.clone(), asked.seed());
        let (data, config) = asked.call.run(py, move |watch| {
            settings.data = Some(local(&source, watch)?);
            let config = settings.config()?;
            let mut data = read_dataset(&config, seed)?;
            let chosen = choose_split(&data, &config, seed)?;
            // A split that was drawn is the data's own from now on.
            if let (Some(split), true) =
                (chosen, !matches!(config.split, data::SplitChoice::Given(_)))
            {
                data.splits = vec![split];
            }
            Ok((data, config))
        })?;
        Ok(Self::new(data, Some(config)))
    }

    /// Generates a data set.
    #[staticmethod]
    fn generate(py: Python<'_>, kind: String, keywords: String) -> PyResult<(Self, String)> {
        let mut asked = Asked::<GenerateSettings>::read(py, &keywords, None)?;
        let refused = |failure: Failure| failure.exception(py);
        asked.settings.kind = kind.parse().map_err(|error| refused(Failure::argument(error)))?;
        let config = asked.settings.config(asked.seed()).map_err(|error| refused(error.into()))?;
        let name = asked.settings.kind.name();
        let made = asked.call.run(py, move |_| Ok(generate(&config, name)?))?;
        Ok((Self::new(made.dataset, None), json(&made.report)?))
    }

    /// Makes a data set of arrays: the edges as compressed rows or as pairs, what is known of the nodes as
    /// dense or compressed rows, classes and parts of splits. `scaling` says how the features are scaled already, or,
    /// where they are not `scaled`, how they are to be.
    #[staticmethod]
    #[pyo3(signature = (nodes, rows, first, targets, *, name, weights=None, features=None, labels=None,
        splits=None, node_names=None, duplicates="sum", keep_self_loops=false, reverse=false,
        unweighted=false, feature_norm="auto", scaling=None, scaled=true, made=None))]
    #[allow(clippy::too_many_arguments)]
    fn from_arrays(
        py: Python<'_>,
        nodes: usize,
        rows: bool,
        first: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        name: String,
        weights: Option<&Bound<'_, PyAny>>,
        features: Option<&Bound<'_, PyAny>>,
        labels: Option<(Bound<'_, PyAny>, Vec<String>)>,
        splits: Option<Vec<[Bound<'_, PyAny>; 3]>>,
        node_names: Option<Vec<String>>,
        duplicates: &str,
        keep_self_loops: bool,
        reverse: bool,
        unweighted: bool,
        feature_norm: &str,
        scaling: Option<&str>,
        scaled: bool,
        made: Option<&str>,
    ) -> PyResult<Self> {
        let failed = |failure: Failure| failure.exception(py);
        let duplicates: Duplicates = choice(duplicates, "duplicates")?;
        let norm: FeatureNorm = choice(feature_norm, "feature_norm")?;
        let self_loops = if keep_self_loops { SelfLoops::Keep } else { SelfLoops::Drop };
        let edges = Edges::read(rows, first, targets)?;
        let weights = weights.map(|weights| floats(weights, "weights")).transpose()?;
        let rules = Rules { duplicates, self_loops, unweighted };
        let Built { mut graph, report } =
            py.detach(|| edges.build(nodes, weights, rules)).map_err(failed)?;
        if reverse {
            graph = graph.transpose();
        }
        let mut features = features.map(read_features).transpose()?;
        let sizes = |what: &str, found: usize| match found == nodes {
            true => Ok(()),
            false => Err(failed(Failure::data(format!(
                "the graph has {nodes} nodes, but there are {what} of {found}"
            )))),
        };
        if let Some(features) = &features {
            sizes("features", features.rows())?;
        }
        let scaling = match (&mut features, scaling) {
            (Some(features), Some(text)) => {
                let scaling: Scaling = serde_json::from_str(text)
                    .map_err(|error| PyValueError::new_err(format!("scaling: {error}")))?;
                if !scaled {
                    py.detach(|| scaling.apply(features));
                }
                scaling
            }
            (Some(features), None) => py.detach(|| norm.apply(features)),
            (None, _) => Scaling::None,
        };
        let labels = match labels {
            Some((classes, names)) => {
                let labels = read_labels(&classes, names)?;
                sizes("labels", labels.classes.len())?;
                Some(labels)
            }
            None => None,
        };
        if let Some(names) = &node_names {
            sizes("names", names.len())?;
        }
        let mut splits =
            splits.unwrap_or_default().iter().map(read_split).collect::<PyResult<Vec<_>>>()?;
        let mut remarks = Vec::new();
        for split in &mut splits {
            // Training wants something to measure; where there is nothing else, it is what it stops by.
            let measured = split.test != split.val;
            let test = std::mem::take(&mut split.test);
            let test = if measured { test } else { Vec::new() };
            let parts = Split { test, ..split.clone() };
            parts.check(nodes).map_err(|error| failed(error.into()))?;
            split.test = parts.test;
            if split.test.is_empty() {
                split.test.clone_from(&split.val);
                remarks.push(UNTESTED.to_owned());
            }
        }
        if report.self_loops > 0 && !keep_self_loops {
            remarks.push(format!("{} self loops were dropped", report.self_loops));
        }
        remarks.extend(scaling.words().map(str::to_owned));
        let mut dataset = data::Dataset {
            name,
            graph,
            report,
            features,
            scaling,
            labels,
            splits,
            node_names: node_names.map(NodeNames::Words),
            reading: Reading::default(),
            remarks,
        };
        if let Some(made) = made {
            let made: MadeFeatures =
                made.parse().map_err(|error: String| failed(Failure::argument(error)))?;
            make_features(&mut dataset, made, FeatureNorm::Auto)
                .map_err(|error| failed(error.into()))?;
        }
        Ok(Self::new(dataset, None))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Where it was read from.
    #[getter]
    fn source(&self) -> Option<String> {
        self.config.as_ref().map(|config| config.source.clone())
    }

    /// Number of nodes.
    #[getter]
    fn nodes(&self) -> usize {
        self.inner.graph.nodes()
    }

    /// What it looks like, as JSON.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        let data = self.inner.clone();
        let found = py.detach(move || info(&data, data.splits.first()));
        json(&found.map_err(|error| Failure::from(error).exception(py))?)
    }

    /// Offsets, targets and weights of the compressed rows.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let graph = &self.inner.graph;
        let rows = PyDict::new(py);
        let offsets = graph.offsets().iter().map(|&at| at as i64).collect();
        rows.set_item("indptr", line::<i64>(py, offsets))?;
        let targets = graph.all_targets().iter().map(|&v| i64::from(v)).collect();
        rows.set_item("indices", line::<i64>(py, targets))?;
        let weights = graph.all_weights().map(<[f32]>::to_vec);
        rows.set_item("data", weights.map(|weights| line(py, weights)))?;
        Ok(rows)
    }

    /// The features: an array, or offsets, columns, values and width of compressed rows.
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match &self.inner.features {
            None => None,
            Some(Features::Dense(matrix)) => Some(table(py, matrix.clone())?.into_any()),
            Some(Features::Sparse(matrix)) => {
                let offsets: Vec<i64> = matrix.offsets().iter().map(|&at| at as i64).collect();
                let columns: Vec<i64> = matrix.columns().iter().map(|&k| i64::from(k)).collect();
                let values: Vec<f32> =
                    (0..matrix.rows()).flat_map(|u| matrix.row(u).1.iter().copied()).collect();
                let (rows, cols) = (matrix.rows(), matrix.cols());
                let parts = (line(py, offsets), line(py, columns), line(py, values), rows, cols);
                Some(parts.into_pyobject(py)?.into_any())
            }
        })
    }

    /// The class of each node, −1 without one, and the names of the classes.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(labels) = &self.inner.labels else { return Ok(None) };
        let classes = labels.classes.iter().map(|class| class.map_or(-1, i64::from));
        let parts = (line::<i64>(py, classes.collect()), labels.names.clone());
        Ok(Some(parts.into_pyobject(py)?.into_any()))
    }

    /// Training, validation and test nodes of each split.
    fn splits<'py>(&self, py: Python<'py>) -> Vec<[Bound<'py, PyAny>; 3]> {
        let part = |nodes: &[u32]| {
            line::<i64>(py, nodes.iter().map(|&u| i64::from(u)).collect()).into_any()
        };
        let all = self.inner.splits.iter();
        all.map(|split| [&split.train, &split.val, &split.test].map(|nodes| part(nodes))).collect()
    }

    /// The names of the nodes, where they have some.
    fn node_names(&self) -> Option<Vec<String>> {
        let names = self.inner.node_names.as_ref()?;
        Some((0..names.len()).filter_map(|u| Some(names.name(u)?.into_owned())).collect())
    }

    /// What was done to the features, as JSON.
    fn scaling(&self) -> PyResult<String> {
        json(&self.inner.scaling)
    }

    /// What a user should know.
    fn remarks(&self) -> Vec<String> {
        self.inner.remarks.clone()
    }
}

/// Homophily of the labels of a data set, as JSON.
#[pyfunction]
pub fn homophily(py: Python<'_>, dataset: &Dataset) -> PyResult<String> {
    let data = dataset.inner.clone();
    let Some(labels) = data.labels.clone() else {
        return Err(Failure::data("there are no labels to measure homophily by").exception(py));
    };
    let found = py.detach(move || magnon::graph::homophily(&data.graph, &labels.classes));
    json(&found)
}

fn read_features(features: &Bound<'_, PyAny>) -> PyResult<Features> {
    type Parts<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize);
    match features.extract::<Parts<'_>>() {
        Ok((starts, columns, values, cols)) => {
            Ok(Features::Sparse(sparse(cols, &starts, &columns, &values)?))
        }
        Err(_) => Ok(Features::Dense(dense(features, "features")?)),
    }
}

fn read_labels(classes: &Bound<'_, PyAny>, names: Vec<String>) -> PyResult<Labels> {
    let numbers = classes.extract::<PyReadonlyArray1<'_, i64>>()?;
    let class = |&class: &i64| match class {
        -1 => Ok(None),
        class if class >= 0 && (class as usize) < names.len() => Ok(Some(class as u32)),
        class => {
            let words = format!("class {class} is none of {} classes", names.len());
            Err(Failure::data(words).exception(classes.py()))
        }
    };
    let classes = numbers.as_array().iter().map(class).collect::<PyResult<_>>()?;
    Ok(Labels { classes, names })
}

fn read_split(parts: &[Bound<'_, PyAny>; 3]) -> PyResult<Split> {
    let [train, val, test] = parts;
    let part = |nodes, what| {
        let mut nodes = indices(nodes, what)?;
        nodes.sort_unstable();
        Ok::<_, PyErr>(nodes)
    };
    Ok(Split { train: part(train, "train")?, val: part(val, "val")?, test: part(test, "test")? })
}

/// A result as JSON, which the package reads.
pub fn json(result: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(result).map_err(|error| PyValueError::new_err(error.to_string()))
}
